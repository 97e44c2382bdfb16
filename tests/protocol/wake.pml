/* Who is awake: searching, sleeping, tokens (runtime/engine/scheduler.h).
 *
 * Producers make work available (a unit each) and look at the counts; workers search, sleep, are woken, take work. Checked over all
 * interleavings: when producers have stopped and all workers sleep, no work is left. The counts are one word in the code; each change or
 * reading of them is one atomic step here.
 */
#define WORKERS   3
#define TARGET    2       /* workers that may be awake */
#define PRODUCERS 2
#define EACH      2

byte work = 0;            /* ready lists: units available */
byte taken = 0;
byte sleeping = 0, searching = 0;
byte threads = 0;         /* started */
byte tokens = 0;
chan start = [WORKERS] of { bit };

#define running (threads - sleeping)

inline wake_if_needed() {
  do
  :: atomic { (searching != 0 || running >= TARGET) -> break }
  :: atomic { searching == 0 && running < TARGET && sleeping > 0 -> sleeping--; searching++; tokens++; break }
  :: atomic { searching == 0 && running < TARGET && sleeping == 0 && threads < WORKERS -> threads++; searching++; start!1; break }
  :: atomic { searching == 0 && running < TARGET && sleeping == 0 && threads == WORKERS -> break }
  od
}

proctype Producer() {
  byte i;
  for (i : 1 .. EACH) {
    work++;                                       /* listing: seq_cst */
    wake_if_needed()
  }
}

proctype Worker() {
  bool is_searching;
end_unborn:
  start?_;
  is_searching = true;                            /* its starter counted it */
  do
  :: /* idle() */
     do
     :: is_searching ->
        if
        :: work > 0 -> atomic { searching--; is_searching = false } break
        :: skip ->                                /* the bounded search ends without having found anything */
           atomic { searching--; sleeping++; is_searching = false }
           goto last_look
        fi
     :: !is_searching ->
        if
        :: atomic { searching == 0 && running <= TARGET -> searching++; is_searching = true }
        :: atomic { !(searching == 0 && running <= TARGET) -> sleeping++ }
           goto last_look
        fi
     od;
     goto take;
last_look:
     if
     :: work > 0 ->
        if
        :: atomic { sleeping > 0 && searching == 0 && running < TARGET -> sleeping--; searching++; is_searching = true }
           goto again
        :: atomic { !(sleeping > 0 && searching == 0 && running < TARGET) -> skip }
        fi
     :: else -> skip
     fi;
end_asleep:
     atomic { tokens > 0 -> tokens-- }
     is_searching = true;                         /* the waker counted us as searching */
again:
     skip
  :: skip ->
take:
     /* work_once(): take one unit, pass the word on if there is more, run it; until nothing is left. */
     do
     :: atomic { work > 0 -> work--; taken++ }
        if
        :: work > 0 -> wake_if_needed()
        :: else -> skip
        fi
     :: work == 0 -> break
     od
  od
}

init {
  byte k;
  atomic {
    for (k : 1 .. PRODUCERS) { run Producer() }
    for (k : 1 .. WORKERS) { run Worker() }
  }
  timeout;                                        /* producers done, started workers asleep without a token */
  assert(taken == PRODUCERS * EACH)
}
