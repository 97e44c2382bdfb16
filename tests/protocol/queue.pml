/* The life of a queue: appending, listing, claiming, draining, releasing (runtime/engine/queue.h).
 *
 * Two appenders publish operations; workers take the queue off the ready list and claim it; a helping host thread claims it without
 * looking at the list. Checked over all interleavings:
 *   - one owner at a time, and each operation runs once, in order;
 *   - when everything has stopped, no operation is left: an end state with work left is the lost hand-over this protocol excludes.
 *
 * Variables and steps follow the code: tail_, listed_, state_, completed_; each is one atomic access with sequential consistency, as the
 * code's exchanges and fenced unlocks make it.
 */
#define OPERATIONS 2      /* per appender */
#define APPENDERS  2
#define TOTAL      (OPERATIONS * APPENDERS)

byte tail = 0;            /* operations published */
byte completed = 0;
bool listed = false;      /* the flag */
bool in_list = false;     /* really in the ready list */
bool owned = false;       /* state_ == running */
byte owners = 0;          /* ghost: threads that believe they own the queue */
byte appended = 0;        /* ghost: appenders that have returned */

inline list_queue() {
  atomic { was = listed; listed = true }          /* exchange */
  if
  :: was -> skip
  :: else -> assert(!in_list); in_list = true     /* push, under the list's lock */
  fi
}

inline release_queue() {
  owners--;
  owned = false;                                  /* exchange */
  if
  :: tail != completed ->
     if
     :: !listed -> list_queue()
     :: else -> skip
     fi
  :: else -> skip
  fi
}

/* Executes up to `limit` operations; the caller owns the queue. */
inline drain(limit) {
  owners++;
  assert(owners == 1);
  n = 0;
  do
  :: n < limit && completed < tail -> completed++; n++
  :: n >= limit || completed == tail -> break
  od
}

proctype Appender() {
  byte i; bool was;
  for (i : 1 .. OPERATIONS) {
    atomic { tail++ }                             /* in the append lock; the unlock is a full barrier */
    if
    :: !owned ->                                  /* whoever owns it looks at the tail again when it releases */
       if
       :: !listed -> list_queue()
       :: else -> skip
       fi
    :: else -> skip
    fi
  }
  appended++
}

proctype Worker() {
  byte n; bool was; bool claimed;
end:
  do
  :: atomic { in_list -> in_list = false; listed = false }   /* pop: under the list's lock */
     atomic { claimed = !owned; if :: claimed -> owned = true :: else -> skip fi }
     if
     :: claimed -> drain(TOTAL); release_queue()
     :: else -> skip                              /* its owner looks at the tail again when it releases */
     fi
  od
}

/* A host thread that waits for the first operation: claims whenever it can, drains one operation, releases. */
proctype Helper() {
  byte n; bool was; bool claimed;
end:
  do
  :: atomic { !owned && completed < tail -> claimed = true; owned = true }
     drain(1);
     release_queue()
  :: completed >= 1 -> break                      /* it waits for the first operation only */
  od
}

init {
  byte k;
  atomic {
    for (k : 1 .. APPENDERS) { run Appender() }
    run Worker(); run Worker(); run Helper()
  }
  timeout;                                        /* nothing can move any more */
  assert(completed == TOTAL)
}
