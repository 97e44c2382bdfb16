/* Sleeping until a queue has completed an operation (runtime/engine/queue.cpp, wait.cpp); parked.pml is about queues that wait for others.
 *
 * An owner publishes completed_ and then looks for waiters: at once (complete_front), or, if the operation is his last, behind his release of the
 * queue (complete_last, release), beside the next owner. A waiter adds itself and, still holding the lock, looks at completed_ again; taking a waiter
 * off the list and waking it is the waker's, unless the waiter took itself off at once. Checked: nobody sleeps for ever, and nobody is woken after it went
 * on by itself (its Waiter lives on its stack). A store that isn't seq_cst waits in `buffered` until the owner's next barrier at the latest.
 */
#define WAITERS 2
#define OPERATIONS 2

byte completed = 0;
bool in_list[WAITERS];
byte waits_for[WAITERS];
bool word[WAITERS];       /* the futex word */
bool gone[WAITERS];       /* ghost: the waiter's record doesn't exist any more */
bool any = false;         /* waiters_ != null */
bool lock = false;

inline acquire() { atomic { !lock -> lock = true } }
inline unlock() { lock = false }
inline refresh() { any = in_list[0] || in_list[1] }

bool owned = false;       /* state_ */
byte buffered = 0;        /* the owner's store of completed_ that nobody else sees yet */

inline look() {
  if
  :: any ->                                       /* seq_cst load */
     acquire();
     for (w : 0 .. WAITERS - 1) {
       due[w] = in_list[w] && waits_for[w] <= completed;
       if :: due[w] -> assert(!gone[w]); in_list[w] = false :: else -> skip fi
     }
     refresh();
     unlock();
     for (w : 0 .. WAITERS - 1) {
       if :: due[w] -> assert(!gone[w]); word[w] = true :: else -> skip fi
     }
  :: else -> skip
  fi
}

proctype Owner() {
  byte w;
  bool due[WAITERS];
  do
  :: completed == OPERATIONS -> break
  :: atomic { !owned && completed < OPERATIONS -> owned = true }
     do
     :: completed < OPERATIONS ->
        if
        :: completed++;                           /* complete_front: seq_cst store */
           look()
        :: buffered = completed + 1;              /* complete_last */
           if
           :: completed = buffered                /* it gets out by itself */
           :: skip
           fi;
           break
        fi
     :: break
     od;
     atomic {                                     /* release(): exchange */
       if :: buffered -> completed = buffered; buffered = 0 :: else -> skip fi;
       owned = false
     }
     look()
  od
}

proctype Waiter(byte me; byte sequence) {
  if
  :: completed >= sequence -> goto done
  :: else -> skip
  fi;
  word[me] = false;
  waits_for[me] = sequence;
  acquire();
  in_list[me] = true;
  any = true;                                     /* seq_cst store */
  if
  :: completed >= sequence ->                     /* seq_cst load */
     in_list[me] = false;
     refresh();
     unlock();
     goto done
  :: else -> unlock()
  fi;
  word[me];                                       /* futex wait: passes once the word is set */
done:
  gone[me] = true;
  assert(completed >= sequence)
}

init {
  atomic {
    run Owner();
    run Owner();
    run Waiter(0, 1);
    run Waiter(1, 2)
  }
}

/* Owners that take the queue and give it up without doing anything prove nothing. */
ltl everybody_returns { [](<>(completed == OPERATIONS)) -> <>(gone[0] && gone[1]) }
