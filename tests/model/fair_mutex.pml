/* SPDX-License-Identifier: Apache-2.0
 *
 * The fair mutex as a protocol: what QueueFlow, ProtectedCreate, NodeRemover and the validity clock do together,
 * without the code around it. scripts/model checks it with Spin.
 *
 * The server gives out numbers that only grow. A node is a bit at its place in line; each place has two, because a
 * writer that downgrades puts a read node at its own number. `made` and `gone` are the truth; `seen[c]` is how far the
 * deletions have come at the server that client c reads from, which may lag behind, but has its own creates and all
 * that came before them. A client's session is the nodes it owns: `own[c]`; when its validity is over by its own clock
 * they become `old[c]`, and the server removes those at any time after that, never before.
 *
 * Checked: no two valid holders (assertion); every acquire is granted or given up, so no wake-up is lost (no invalid
 * end state, and no cycle: each run is finite); nothing stays in the queue (assertion of Judge).
 *
 * Not in the model: somebody deleting another's node, the overflow of numbers, a parent that vanishes.
 *
 * Mutations, which Spin must find wrong:
 *   ZERO_READ_ANYWHERE  grant on the deletion of the node ahead also when there were more ahead
 *   ZERO_READ_DOWNGRADE with READ_WRITE: grant on the deletion of the only node ahead, though its writer may downgrade
 *   NO_GUID_LOOKUP      after a lost reply create again without looking for the node
 *   NO_VALIDITY         a grant does not ask whether the session is still valid
 */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2 /* acquires of each client */
#endif
#ifndef LOSSES
#define LOSSES 1 /* replies or requests that are lost */
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 1
#endif
#define PLACES 15

#define WRITE_BIT(place) (1 << (2 * (place)))
#define READ_BIT(place) (2 << (2 * (place)))
#define BEFORE(place) (WRITE_BIT(place) - 1)

byte next = 0;
int made = 0;
int gone = 0;
int seen[CLIENTS];
int own[CLIENTS];
int old[CLIENTS];
int doomed[CLIENTS]; /* handed to the remover */
bool valid[CLIENTS];
bool over[CLIENTS]; /* the session of the current attempt is over */
bool holds[CLIENTS];

byte losses = LOSSES;
byte expiries = EXPIRIES;
byte give_ups = GIVE_UPS;
byte finished = 0;

inline enter_hold() {
  d_step {
    i = 0;
    do
    :: i < CLIENTS -> assert(!holds[i]); i++
    :: else -> break
    od;
    holds[me] = true;
    i = 0
  }
}

inline make_node() {
  d_step {
    assert(next < PLACES);
    mine = next;
    next++;
    made = made | WRITE_BIT(mine);
    own[me] = own[me] | WRITE_BIT(mine);
    guid = guid | WRITE_BIT(mine)
  }
}

/* The listing of a server that has applied some of the deletions that this client has not seen yet. */
inline catch_up_somewhat() {
  i = 0;
  do
  :: i < 2 * PLACES && ((gone & ~seen[me]) >> i) == 0 -> break
  :: i < 2 * PLACES && ((gone & ~seen[me]) >> i) != 0 ->
     if
     :: ((gone & ~seen[me]) >> i) & 1 -> seen[me] = seen[me] | (1 << i)
     :: true
     fi;
     i++
  :: i >= 2 * PLACES -> break
  od;
  i = 0
}

proctype Client(byte me) {
  byte round = 0;
  byte mine = 0;
  byte i = 0;
  byte watched = 0;
  int guid = 0; /* all nodes of this attempt, whose names carry its guid */
  int ahead = 0;
  bool only_one = false;
  bool leaving = false;

join:
  atomic { guid = 0; mine = 0; leaving = false };

create:
  atomic {
    if
    :: over[me] -> goto renew
    :: !over[me] -> make_node(); goto list
    :: !over[me] && losses > 0 -> losses--; make_node(); goto uncertain
    :: !over[me] && losses > 0 -> losses--; goto uncertain
    fi
  };

uncertain:
  atomic {
    if
    :: over[me] -> goto renew
    :: !over[me] && losses > 0 -> losses--; goto uncertain
    :: !over[me] && give_ups > 0 && !leaving -> give_ups--; leaving = true; goto uncertain
    :: !over[me] ->
#ifdef NO_GUID_LOOKUP
       goto create
#else
       seen[me] = gone; /* sync, then list */
       if
       :: (guid & ~gone) == 0 -> goto create
       :: else -> /* the newest is `mine`; there is no other, as each create is preceded by this look */
          assert((guid & ~gone) == WRITE_BIT(mine))
       fi
#endif
    fi
  };

list:
  atomic {
    if
    :: over[me] -> goto renew
    :: else
    fi;
    if
    :: leaving -> doomed[me] = doomed[me] | WRITE_BIT(mine); goto left
    :: else
    fi;
    catch_up_somewhat();
    doomed[me] = doomed[me] | (guid & ~gone & ~WRITE_BIT(mine)); /* strays */
    ahead = made & ~seen[me] & BEFORE(mine);
    if
    :: ahead == 0 -> goto grant
    :: else ->
       watched = 0;
       do
       :: (ahead >> (watched + 1)) != 0 -> watched++
       :: else -> break
       od;
       only_one = (ahead == (1 << watched));
       ahead = 0
    fi
  };

wait: /* get with watch: a node that has gone meanwhile is as good as its event */
  atomic {
    if
    :: (gone >> watched) & 1 ->
       seen[me] = seen[me] | (1 << watched);
#ifdef ZERO_READ_ANYWHERE
       goto grant
#else
#if !defined(READ_WRITE) || defined(ZERO_READ_DOWNGRADE)
       if
       :: only_one -> goto grant
       :: else -> goto list
       fi
#else
       goto list
#endif
#endif
    :: over[me] -> goto renew
    :: give_ups > 0 -> give_ups--; doomed[me] = doomed[me] | WRITE_BIT(mine); goto left
    fi
  };

grant:
  atomic {
#ifndef NO_VALIDITY
    if
    :: !valid[me] -> goto renew
    :: else
    fi;
#endif
    enter_hold()
  };

#ifdef READ_WRITE
  if
  :: atomic {
       valid[me] ->
       made = made | READ_BIT(mine);
       own[me] = own[me] | READ_BIT(mine);
       doomed[me] = doomed[me] | WRITE_BIT(mine)
     };
     atomic { holds[me] = false; doomed[me] = doomed[me] | (READ_BIT(mine) & made) }; goto left
  :: true
  fi;
#endif
  atomic { holds[me] = false; doomed[me] = doomed[me] | WRITE_BIT(mine) }; /* release */
  goto left;

renew: /* a new session; what the old one left under this guid goes, if the server does not do it first */
  atomic {
    over[me] ->
    over[me] = false;
    valid[me] = true;
    doomed[me] = doomed[me] | (guid & ~gone);
    if
    :: leaving -> goto left
    :: else -> goto join
    fi
  };

left:
  atomic {
    round++;
    guid = 0; mine = 0; watched = 0; only_one = false;
    if
    :: round < ROUNDS -> goto join
    :: else -> finished++
    fi
  }
}

/* Removals are retried until they are done. */
proctype Remover(byte me) {
  byte i = 0;
end:
  do
  :: atomic {
       doomed[me] != 0 ->
       i = 0;
       do
       :: (doomed[me] >> i) & 1 -> break
       :: else -> i++
       od;
       gone = gone | (1 << i);
       own[me] = own[me] & ~(1 << i);
       old[me] = old[me] & ~(1 << i);
       doomed[me] = doomed[me] & ~(1 << i);
       i = 0
     }
  od
}

/* Validity ends by the client's own clock, and with it the hold; the server ends the session some time after. */
proctype Time() {
  byte c = 0;
end:
  do
  :: atomic { expiries > 0 -> expiries--; select(c : 0 .. CLIENTS - 1); valid[c] = false; holds[c] = false };
     atomic { old[c] = old[c] | own[c]; own[c] = 0; over[c] = true };
     atomic { gone = gone | old[c]; doomed[c] = doomed[c] & ~old[c]; old[c] = 0; c = 0 }
  od
}

proctype Judge() {
  atomic {
    finished == CLIENTS ->
    assert(true)
  };
  atomic {
    byte c = 0;
    do
    :: c < CLIENTS -> (doomed[c] == 0 && old[c] == 0); c++
    :: else -> break
    od;
    assert((made & ~gone) == 0)
  }
}

init {
  byte c = 0;
  atomic {
    do
    :: c < CLIENTS -> valid[c] = true; run Client(c); run Remover(c); c++
    :: else -> break
    od;
    run Time();
    run Judge()
  }
}
