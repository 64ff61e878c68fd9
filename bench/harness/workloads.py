# SPDX-License-Identifier: Apache-2.0
"""What is measured, of whom, and how often."""

from dataclasses import dataclass, field

OURS = "zkrecipes"
LOOK_AHEAD = "look_ahead"
RETAINED = "retained"
SIMPLE = "simple"
OBSERVED = "observed"
# Our library, by the value of its driver's option --lock.
OUR_LOCKS = {OURS: "fair", LOOK_AHEAD: "look-ahead", RETAINED: "retained", SIMPLE: "simple", OBSERVED: "observed"}
PEERS = {
    OURS: "zkrecipes",
    LOOK_AHEAD: "zkrecipes, look-ahead",
    RETAINED: "zkrecipes, retained",
    SIMPLE: "zkrecipes, simple lock",
    OBSERVED: "zkrecipes, with Prometheus metrics",
    "raw_c": "C client, the least a lock must do",
    "curator": "Curator 5.4 (Java)",
    "apache": "Apache's WriteLock (Java)",
    "kazoo": "kazoo (Python)",
    "redis-px": "Redis SET NX PX",
    "redlock": "Redlock, five Redis",
    "etcd": "etcd lock, lease",
    "pg-row": "PostgreSQL row lock",
    "pg-insert": "PostgreSQL unique insert",
}
# Not on ZooKeeper. Only on request, because they need the packages of their services.
OTHER_SERVICES = ("redis-px", "redlock", "etcd", "pg-row", "pg-insert")
# Of interest beside us without metrics only.
USUAL_PEERS = tuple(peer for peer in PEERS if peer not in OTHER_SERVICES and peer != OBSERVED)
COMPILED_AT_RUN_TIME = {"curator", "apache"}


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    peers: tuple
    cycles: int  # per run on loopback
    delayed_cycles: int  # per run behind the proxy, and with an ensemble; 0: makes no difference there, not run
    warmup: int = 0  # cycles before the first run, for compilers at run time
    driver_workload: str = ""  # of the drivers, if it is called differently there
    contenders: dict = field(default_factory=dict)  # by peer; "" for the others
    fresh_process: bool = False  # each round needs one, because the first run changes what is measured
    unit: str = "us"
    round_trips: bool = False  # also report the time as a number of round trips, where their length is known

    def driver_name(self):
        return self.driver_workload or self.name

    def warmup_of(self, peer, cycles):
        return self.warmup if peer in COMPILED_AT_RUN_TIME else min(self.warmup, cycles // 4)

    def contenders_of(self, peer):
        return self.contenders.get(peer, self.contenders.get("", 8))


WORKLOADS = [
    Workload("lock", "lock + unlock, uncontended", (OURS, OBSERVED, RETAINED, "raw_c", "curator", "apache", "kazoo"),
             2000, 300, 10000),
    Workload("confirmed", "acquire + confirmed release",
             (OURS, "raw_c", "curator", "apache", "kazoo") + OTHER_SERVICES, 2000, 300, 10000),
    Workload("read", "read lock, uncontended", (OURS, "curator", "kazoo"), 2000, 300, 10000),
    Workload("semaphore", "semaphore permit, free", (OURS, "curator", "kazoo"), 1000, 200, 5000),
    Workload("handover8", "hand-over, 8 contenders", (OURS, LOOK_AHEAD, "raw_c", "curator", "kazoo"), 1500, 300, 5000,
             driver_workload="handover", contenders={"": 8}),
    Workload("handover64", "hand-over, 64 contenders", (OURS, LOOK_AHEAD, "raw_c", "curator", "kazoo"), 1500, 300, 5000,
             driver_workload="handover", contenders={"": 64}),
    Workload("drain", "1,000 waiters draining, 8 connections", (OURS, LOOK_AHEAD, "curator"), 1000, 1000, 3000),
    # For the wake-ups per release.
    Workload("handover2", "hand-over, 2 contenders", (OURS, LOOK_AHEAD), 1000, 0, 1000,
             driver_workload="handover", contenders={"": 2}),
    Workload("handover256", "hand-over, 256 contenders", (OURS, LOOK_AHEAD), 1000, 0, 1000,
             driver_workload="handover", contenders={"": 256}),
    Workload("newcomer", "newcomer against an idle retained lock", (RETAINED,), 500, 100, 500, round_trips=True),
    Workload("many", "10,000 locks: one thread (async), Curator 64 threads", (OURS, "raw_c", "curator"),
             10000, 10000, 30000, contenders={"curator": 64}),
    Workload("reentry", "re-entry", (OURS, "curator"), 1000000, 0, 1000000, unit="ns"),
    Workload("waiting", "10,000 waiting acquire_async, 8 connections", (OURS,), 10000, 0, fresh_process=True),
]

# Its time per cycle is the time from a release to the next grant, because holders do nothing.
RELEASE_TO_GRANT = Workload("handover", "release to grant, 8 contenders", (SIMPLE, OURS, LOOK_AHEAD, "curator"),
                            1500, 100, 5000, contenders={"": 8})


def quick(workload):
    """A tenth of the work, to see that everything runs."""
    small = dict(workload.__dict__)
    for count in ("cycles", "delayed_cycles", "warmup"):
        small[count] = (small[count] + 9) // 10
    return Workload(**small)
