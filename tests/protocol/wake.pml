/* Who is awake: searching, sleeping, tokens (runtime/engine/scheduler.h, worker.cpp).
 *
 * Producers list work (a unit each) and look at the counts; workers search, sleep, are woken, take work. Three kinds of units:
 *   plain     runs to its end;
 *   resident  blocks that stay: the worker that takes them is pinned until the host functions are done (they wait for those), takes
 *             further units meanwhile, and never sleeps;
 *   host      a host function. A pinned worker that meets one puts it into the list for unpinned workers; one that runs it isn't counted
 *             as running meanwhile.
 * Checked over all interleavings: when nothing moves any more, all units have run. So neither is work left with everybody asleep, nor a
 * host function with all others pinned, however many workers run. The counts are one word in the code; each change or reading of them is
 * one atomic step here.
 */
#ifndef TARGET
#define TARGET  2         /* workers that may be awake before host functions and pinned workers count */
#endif
#define WORKERS 3         /* that can be started at all: two may be pinned */
#define UNITS   4

byte plain = 0, resident = 0, host = 0;           /* ready lists: units available */
byte unpinned = 0;                                /* the list for unpinned workers: host functions */
byte done = 0, hosts_left = 2;
byte sleeping = 0, searching = 0, in_host = 0;
byte threads = 0;         /* started */
byte tokens = 0;
chan start = [WORKERS] of { bit };

#define running (threads - sleeping - in_host)
#define listed (plain + resident + host)
#define has_ready (listed + unpinned > 0)

/* wake_slowly(): for_unpinned says that it is for the unpinned list, however many run. */
inline wake_slowly(for_unpinned) {
  if
  :: atomic { searching != 0 || (!(for_unpinned) && running >= TARGET) -> skip }
  :: atomic { searching == 0 && ((for_unpinned) || running < TARGET) ->
       if
       :: sleeping > 0 -> sleeping--; searching++; tokens++
       :: sleeping == 0 && threads < WORKERS -> threads++; searching++; start!1
       :: sleeping == 0 && threads == WORKERS -> skip
       fi }
  fi
}

inline pass_on() {
  if
  :: unpinned > 0 -> wake_slowly(true)
  :: unpinned == 0 ->
     if
     :: has_ready -> wake_slowly(false)
     :: else -> skip
     fi
  fi
}

/* Two units each, of kinds that are chosen here: with two residents and two host functions, and with less. */
proctype Producer() {
  byte i;
  for (i : 1 .. 2) {
    if
    :: i == 1 -> atomic { if :: resident++ :: plain++ fi }      /* listing: seq_cst */
    :: i == 2 -> host++
    fi;
    wake_slowly(false)
  }
}

proctype Worker() {
  bool is_searching; byte pinned = 0;
end_unborn:
  start?_;
  is_searching = true;                            /* its starter counted it */
  goto idle;
work:
  /* work_once(), over and over: take one unit, pass the word on, run it; until nothing is left. */
  do
  :: atomic { resident > 0 -> resident-- }        /* join(): before a look at the lists */
     pass_on();
     pinned++                                     /* blocks of another grid join those that are here */
  :: atomic { !pinned && unpinned > 0 -> unpinned-- }
     pass_on();
     goto run_host
  :: pinned || unpinned == 0 ->                   /* a look at that list, then one at the others: pop() */
     if
     :: atomic { host > 0 -> host-- }
        pass_on();
        if
        :: pinned -> unpinned++; wake_slowly(true)          /* list_for_unpinned() */
        :: else -> goto run_host
        fi
     :: atomic { plain > 0 -> plain-- }
        pass_on();
        done++
     :: atomic { pinned && hosts_left == 0 -> done = done + pinned; pinned = 0 }
     :: !pinned && plain + host == 0 -> goto idle
     fi
  od;
run_host:
  in_host++;                                      /* enter_host_function() */
  if
  :: has_ready -> wake_slowly(false)
  :: else -> skip
  fi;
  atomic { hosts_left--; done++ }
  in_host--;
  goto work;

idle:
  do
  :: is_searching ->
     if
     :: has_ready -> atomic { searching--; is_searching = false } goto work
     :: skip ->                                   /* the bounded search ends without having found anything */
        atomic { searching--; sleeping++; is_searching = false }
        break
     fi
  :: !is_searching ->
     if
     :: atomic { searching == 0 && running <= TARGET -> searching++; is_searching = true }
     :: atomic { !(searching == 0 && running <= TARGET) -> sleeping++ }
        break
     fi
  od;
  /* Counted as asleep: a last look, as long as this worker would do, however many run if it is for the unpinned list. */
  if
  :: unpinned > 0 ->
     if
     :: atomic { sleeping > 0 && searching == 0 -> sleeping--; searching++; is_searching = true }
        goto idle
     :: atomic { !(sleeping > 0 && searching == 0) -> skip }
     fi
  :: unpinned == 0 && listed > 0 ->
     if
     :: atomic { sleeping > 0 && searching == 0 && running < TARGET -> sleeping--; searching++; is_searching = true }
        goto idle
     :: atomic { !(sleeping > 0 && searching == 0 && running < TARGET) -> skip }
     fi
  :: unpinned == 0 && listed == 0 -> skip
  fi;
end_asleep:
  atomic { tokens > 0 -> tokens-- }
  is_searching = true;                            /* the waker counted us as searching */
  goto idle
}

init {
  byte k;
  atomic {
    for (k : 1 .. 2) { run Producer() }
    for (k : 1 .. WORKERS) { run Worker() }
  }
  timeout;                                        /* nothing moves any more */
  assert(done == UNITS)
}
