# SPDX-License-Identifier: Apache-2.0
"""A kazoo lock that stands in one queue with zkrecipes (C++) and Curator (Java).

kazoo's own Lock names its nodes "<32 hex>__lock__<sequence>", which Curator does not wait for, and does not look for
the names of others. This one writes names that all three understand and waits for its predecessor, of any client:

    from kazoo.client import KazooClient
    from zkrecipes_kazoo import FairMutex

    zk = KazooClient(hosts="127.0.0.1:2181")
    zk.start()
    with FairMutex(zk, "/app/lock", "worker 7") as mutex:
        token = mutex.fencing_token()   # give it to the resource that the lock guards

The C++ side is zkrecipes::FairMutex, the Java side InterProcessMutex, on the same path. There is no such module for
the read/write lock and the semaphore: kazoo's are laid out differently and cannot share a path with Curator's.

kazoo does not say until when a hold is valid. Watch its connection state: after SUSPENDED somebody else may get the
lock before LOST is reported, so stop using the resource then, or let it refuse old tokens.

Needs kazoo 2.8 or later.
"""

from kazoo.exceptions import NoNodeError
from kazoo.recipe.lock import Lock
from kazoo.retry import ForceRetryError


class FairMutex(Lock):
    """kazoo.recipe.lock.Lock with Curator's names; the same methods, the same behaviour."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-", "__lock__"]

    def _inner_acquire(self, *args, **kwargs):
        try:
            return super()._inner_acquire(*args, **kwargs)
        except NoNodeError:
            # zkrecipes and Curator keep their queues in container nodes, which the server removes when they are empty.
            self.assured_path = False
            raise ForceRetryError()

    def fencing_token(self):
        """The czxid of the node: larger than that of every earlier hold. None when the lock is not held any more."""
        if not self.is_acquired or self.node is None:
            return None
        stat = self.client.exists(self.path + "/" + self.node)
        return None if stat is None else stat.czxid
