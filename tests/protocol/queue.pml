/* The life of a queue: appending, listing, claiming, draining, releasing (runtime/engine/queue.h).
 *
 * Two threads publish operations, one of which waits for its own: it takes the queue where nobody has it, without looking at the list;
 * workers take the queue off the ready list and claim it. Checked over all interleavings:
 *   - one owner at a time, and each operation runs once, in order;
 *   - a worker that leaves the queue watched, with operations in it or without, looks again, whoever had it meanwhile; who had it may
 *     leave it to that worker again, who may be about to end his watch;
 *   - when everything has stopped, no operation is left: an end state with work left is the lost hand-over this protocol excludes.
 *
 * Variables and steps follow the code: tail_, listed_, state_, completed_; each is one atomic access with sequential consistency, as the
 * code's exchanges and fenced unlocks make it.
 */
#define TOTAL 3           /* operations: two of one appender, one of another */

byte tail = 0;            /* operations published */
byte completed = 0;
bool listed = false;      /* the flag */
bool in_list = false;     /* really in the ready list */
mtype = { idle, watched, running };
mtype state = idle;       /* state_ */
bool watcher = false;     /* has_watcher_ */
byte owners = 0;          /* ghost: threads that believe they own the queue */

inline list_queue() {
  atomic { was = listed; listed = true }          /* exchange */
  if
  :: atomic { was -> was = false }
  :: atomic { else -> assert(!in_list); in_list = true }     /* push, under the list's lock */
  fi
}

inline look_again() {
  if
  :: tail != completed ->
     if
     :: !listed -> list_queue()
     :: else -> skip
     fi
  :: else -> skip
  fi
}

inline unwatch() {
  atomic { was = (state == watched); if :: was -> state = idle :: else -> skip fi }    /* compare-exchange */
  if
  :: was -> was = false; look_again()
  :: else -> skip
  fi
}

inline end_watch() {
  atomic { watcher = false; watching = false };   /* exchange */
  unwatch()
}

inline release_queue() {
  if
  :: watcher ->                                   /* operations may be left or not: the watcher looks */
     atomic { owners--; state = watched };        /* exchange */
     if
     :: !watcher -> unwatch()
     :: else -> skip
     fi
  :: true ->                                      /* it has none, or more is to be done at once */
     atomic { owners--; state = idle };           /* exchange */
     look_again()
  fi
}

/* The load of the state, then a compare-exchange from what was seen. Sets `claimed`. */
inline try_claim() {
  claimed = false;
  seen = state;
  if
  :: seen != running ->
     atomic { if :: state == seen -> state = running; claimed = true :: else -> skip fi; seen = idle }
  :: else -> seen = idle
  fi
}

/* Executes up to `limit` operations; the caller owns the queue. */
inline drain(limit) {
  atomic { owners++; assert(owners == 1); n = 0 }
  do
  :: atomic { n < limit && completed < tail -> completed++; n++ }
  :: atomic { n >= limit || completed == tail -> n = 0; break }
  od
}

inline list_if_idle() {
  if
  :: state == idle ->                             /* who has it or watches it looks at the tail again */
     if
     :: !listed -> list_queue()
     :: else -> skip
     fi
  :: else -> skip
  fi
}

proctype Appender(byte operations) {
  byte i; bool was;
  for (i : 1 .. operations) {
    atomic { tail++ }                             /* in the append lock; the unlock is a full barrier */
    list_if_idle()
  }
}

proctype Worker() {
  byte n; bool was; bool claimed; bool watching = false; mtype seen;
end:
  do
  :: atomic { in_list -> in_list = false; listed = false }   /* pop: under the list's lock */
     if
     :: watching -> end_watch() /* before it takes up anything else */
     :: else -> skip
     fi;
     try_claim();
     if
     :: claimed -> claimed = false;
        drain(TOTAL);
        if
        :: release_queue()
        :: atomic { owners--; watcher = true }; atomic { state = watched; watching = true }
        fi
     :: else -> watcher = true; watching = true   /* its owner may leave it to this worker */
     fi
  :: watching ->                                  /* a look at the watched queue */
     seen = state;
     if
     :: seen != running && tail != completed ->
        atomic { claimed = (state == seen); if :: claimed -> state = running :: else -> skip fi; seen = idle }
        if
        :: claimed -> claimed = false;
           drain(1);                              /* it stays behind the enqueuer */
           atomic { owners--; watcher = true };
           state = watched
        :: else -> skip
        fi
     :: else ->                                   /* ends the watch */
        seen = idle;
        end_watch()
     fi
  od
}

/* A host thread that appends an operation and waits for it: it takes the queue instead of listing it where nobody has it, then claims
 * whenever it can, drains one operation and releases. */
proctype Waiting() {
  byte n; bool was; bool claimed; mtype seen; byte mine;
  atomic { tail++; mine = tail };
  try_claim();
  if
  :: claimed -> claimed = false; drain(1); release_queue()
  :: else -> list_if_idle()
  fi;
end:
  do
  :: state != running && completed < mine ->
     try_claim();
     if
     :: claimed -> claimed = false; drain(1); release_queue()
     :: else -> skip
     fi
  :: completed >= mine -> break
  od
}

init {
  atomic {
    run Appender(2); run Waiting();
    run Worker(); run Worker()
  }
  timeout;                                        /* nothing can move any more */
  assert(completed == TOTAL)
}
