/* A queue that waits for another: parking, and what may happen to it while the one who parked it is still on his way (runtime/engine/queue.cpp,
 * drain.cpp).
 *
 * The queue has two waits, for operation 1 and for operation 2 of the other one. Whoever claims it runs them; where one isn't satisfied he
 * parks the queue and lists it as a waiter, and from then on it isn't his: the waker releases it, and another thread may claim it, run on
 * and park it again in the same list. Checked: only the owner completes its operations, each once and not before its time, and all of them
 * get done.
 */
#define THREADS 2
#define OPERATIONS 2
#define NOBODY 9

mtype = { idle, running, parked };
mtype state = idle;
byte owner = NOBODY;      /* ghost */
byte done = 0;            /* operations of the waiting queue that are complete */
byte completed = 0;       /* of the other queue */
bool in_list = false;
byte waits_for = 0;
bool lock = false;

inline acquire() { atomic { !lock -> lock = true } }
inline unlock() { lock = false }

proctype Completer() {
  byte i;
  bool due;
  for (i : 1 .. OPERATIONS) {
    completed = i;                                /* seq_cst store */
    if
    :: in_list ->                                 /* seq_cst load */
       acquire();
       due = in_list && waits_for <= completed;
       if :: due -> in_list = false :: else -> skip fi;
       unlock();
       if
       :: due -> atomic { assert(state == parked); owner = NOBODY; state = idle }     /* release() */
       :: else -> skip
       fi
    :: else -> skip
    fi
  }
}

proctype Thread(byte me) {
  bool listed;
claim:
  if
  :: atomic { state == idle && done < OPERATIONS -> state = running; owner = me }
  :: done == OPERATIONS -> goto end
  fi;
next:
  if
  :: done == OPERATIONS -> atomic { state = idle; owner = NOBODY }; goto end
  :: else -> skip
  fi;
  if
  :: completed >= done + 1 -> goto complete
  :: else -> skip
  fi;
  waits_for = done + 1;
  state = parked;
  acquire();
  in_list = true;                                 /* seq_cst store */
  if
  :: completed >= waits_for ->                    /* seq_cst load */
     in_list = false;
     listed = false
  :: else -> listed = true
  fi;
  unlock();
  if
  :: listed -> goto claim                         /* not his any more */
  :: else -> state = running
  fi;
complete:
  atomic { assert(owner == me && state == running && completed >= done + 1); done = done + 1 };
  goto next;
end:
  skip
}

init {
  atomic {
    run Completer();
    run Thread(0);
    run Thread(1)
  }
}

ltl everything_runs { <>(done == OPERATIONS) }
