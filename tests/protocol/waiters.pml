/* Sleeping until a queue has completed an operation (runtime/engine/queue.cpp, wait.cpp); parked.pml is about queues that wait for others.
 *
 * A completer publishes completed_ and then looks for waiters; a waiter adds itself and, still holding the lock, looks at completed_ again;
 * taking a waiter off the list and waking it is the waker's, unless the waiter took itself off at once. Checked: nobody sleeps for ever, and nobody is woken
 * after it went on by itself (its Waiter lives on its stack).
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

proctype Completer() {
  byte i, w;
  bool due[WAITERS];
  for (i : 1 .. OPERATIONS) {
    completed = i;                                /* seq_cst store */
    if
    :: any ->                                     /* seq_cst load */
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
    run Completer();
    run Waiter(0, 1);
    run Waiter(1, 2)
  }
}

ltl everybody_returns { <>(gone[0] && gone[1]) }
