/* Claim, heartbeat, settle, reap, cancel, erase and requeue of one item.

   The item's row carries the status; a side table carries the claim (fence, lease).
   Two workers, a reaper, a clock that may run out at any moment, a person who
   cancels, erases and queues again by plain SQL, and workers that crash anywhere.
   Every `atomic` is one transaction of the real engine.

   Compiled as it stands, the model is the engine. These switches break it, and
   each of them must give a counterexample:
     -DNO_FENCE     settle looks at the status only
     -DNO_STATUS    settle looks at the fence only
     -DSPLIT        effect, status and hand-over commit one after the other
     -DEFFECT_FIRST the effect commits, then the fenced status change follows
     -DNO_EXPIRY    the reaper takes claims whose lease still runs
     -DNO_REAPER    nobody rescues
     -DREUSE        the fence is the count of tries, which a hand-back lowers
*/

#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef EXPIRIES
#define EXPIRIES 2
#endif
#ifndef PEOPLE
#define PEOPLE 2
#endif
#define BEATS 1
#define MAX_TRIES 3

mtype = { queued, working, done, dead, cancelled, gone };

mtype status = queued;
byte claim = 0;          /* the fence in the side table; 0: no claim row */
byte last_fence = 0;     /* a sequence: it only grows */
byte tries = 0;
bool expired = false;

byte effects = 0;
byte handed_over = 0;
byte settled = 0;        /* settles that reported success */
byte rounds = 1;         /* how often this item may rightly be worked to the end */
byte crashes = 0;
byte expiries = 0;
byte requests = 0;
byte input = 0;          /* which version of the item's input is the current one */

#define FINAL (status == done || status == dead || status == cancelled || status == gone)

inline take_claim(mine, read) {
    status = working;
    tries++;
#ifdef REUSE
    claim = tries;
#else
    last_fence++;
    claim = last_fence;
#endif
    mine = claim;
    read = input;
    expired = false;
}

#if defined(NO_FENCE)
#define MAY_SETTLE(mine) (status == working)
#elif defined(NO_STATUS)
#define MAY_SETTLE(mine) (claim == mine)
#else
#define MAY_SETTLE(mine) (status == working && claim == mine)
#endif

#ifdef NO_EXPIRY
#define MAY_REAP true
#else
#define MAY_REAP expired
#endif

inline write_effect(read) {
    /* A person's word is final: nothing is written for a cancelled or erased item. */
    assert(status != cancelled && status != gone);
    /* A result made from an older input never replaces one of a newer input. */
    assert(read == input);
    effects++;
    assert(effects <= rounds);
}

inline hand_over() {
    handed_over++;
    assert(handed_over <= rounds);
}

/* Run to the end of one claim: beats, then settles, gives back, or crashes. */
proctype Worker() {
    byte mine = 0;
    byte read = 0;
    byte beats = 0;
    bool may;
    do
    :: atomic { mine == 0 && status == queued -> take_claim(mine, read); beats = 0 }
    :: atomic { mine != 0 && beats < BEATS && status == working && claim == mine ->
           expired = false; beats++ }
    :: atomic { mine != 0 && crashes < CRASHES -> crashes++; mine = 0 }
    :: atomic { mine != 0 && status == working && claim == mine && crashes < CRASHES ->
           /* graceful stop: hand the claim back, the attempt is not spent */
           crashes++; status = queued; claim = 0; tries--; mine = 0 }
    :: mine != 0 ->
#if defined(SPLIT)
           atomic { may = MAY_SETTLE(mine); if :: may -> write_effect(read) :: else fi };
           if
           :: may && crashes < CRASHES -> atomic { crashes++; mine = 0 }
           :: may -> atomic { status = done; claim = 0; settled++ };
               if
               :: crashes < CRASHES -> atomic { crashes++; mine = 0 }
               :: atomic { hand_over(); mine = 0 }
               fi
           :: else -> mine = 0
           fi
#elif defined(EFFECT_FIRST)
           atomic { write_effect(read) };
           atomic {
               if
               :: MAY_SETTLE(mine) -> status = done; claim = 0; settled++; hand_over()
               :: else
               fi;
               mine = 0
           }
#else
           atomic {
               if
               :: MAY_SETTLE(mine) ->
                   write_effect(read); hand_over();
                   status = done; claim = 0; settled++
               :: else          /* someone else owns it now: discard */
               fi;
               if
               :: mine = 0      /* the answer arrived */
               :: crashes < CRASHES -> crashes++      /* lost: settle again */
               fi
           }
#endif
    od
}

proctype Reaper() {
#ifndef NO_REAPER
    do
    :: atomic { status == working && claim != 0 && MAY_REAP ->
           claim = 0; expired = false;
           if
           :: tries >= MAX_TRIES -> status = dead
           :: else -> status = queued
           fi }
    od
#else
    skip
#endif
}

/* A crashed worker's lease always runs out; a live one's may, at any moment. */
proctype Clock() {
    do
    :: atomic { claim != 0 && !expired && expiries < EXPIRIES ->
           expiries++; expired = true }
    :: atomic { claim != 0 && !expired && timeout -> expired = true }
    od
}

proctype Person() {
    do
    :: atomic { requests < PEOPLE && (status == queued || status == working) ->
           requests++; status = cancelled }
    :: atomic { requests < PEOPLE && status != gone ->
           requests++; status = gone }
    :: atomic { requests < PEOPLE && status == working ->
           /* plain SQL: the claim row stays behind */
           requests++; input++; status = queued }
    :: atomic { requests < PEOPLE && FINAL && status != gone ->
           requests++; if :: status == done -> rounds++ :: else fi;
           input++; status = queued; tries = 0 }
    od
}

/* When nothing can move any more, nothing may be lost or stuck. */
proctype Checker() {
    (timeout && (claim == 0 || expired)) -> atomic {
        assert(FINAL);
        assert(effects == settled && handed_over == settled);
#if CRASHES == 0 && EXPIRIES == 0 && PEOPLE == 0
        assert(status == done);       /* no fault, no dead letter */
#endif
    }
}

init { atomic {
    run Worker(); run Worker(); run Reaper(); run Clock(); run Person(); run Checker()
} }
