/* lease.pml - the protocol by which one run is advanced: lease, fence, pause, restart, eager hand-off.
 *
 * What is modelled is the rows of src/store/store.h, as units of work see them: every atomic block is one unit, or one
 * read.  Two runners carry a run that does a step, waits for an event and finishes; a client in the first runner's
 * process pauses, resumes, terminates, restarts and sends events, each as "read, decide, commit under a fence at what was
 * read".  Runners die between any two units, and leases expire under runners that live.
 *
 * Everything that can be done is bounded (CONTROLS, CRASHES, STALLS) and every claim raises the epoch, so that each
 * execution ends; what must happen eventually is therefore asserted at the end, by Monitor.
 *
 *  P1. Only the runner that claimed last commits, and only into the run that is current and open.
 *  P2. A step is committed once.
 *  P3. A pause that was asked for is honoured, unless the run ended or was resumed; a resume is not forgotten.
 *  P4. Whatever can be done is done: no lease is left behind, no event that was sent waits beside a waiting run.
 *
 * Each of these macros breaks the protocol in one place, and a property with it:
 *   NO_FENCE       a turn's units do not look at the fence
 *   NO_RUN         fences compare the epoch alone
 *   NO_RAISE       a claim leaves the epoch as it is
 *   NO_EVENT_SEQ   parking does not look for events that the turn has not seen
 *   NO_FLAG        the closing unit is not refused when a pause is asked for, and parking ignores it
 *   NO_EXPIRY      leases of the dead do not end
 *   PAUSE_UNASKED  a turn that saw the request parks as paused even if it was taken back meanwhile */

#ifndef CONTROLS
#define CONTROLS 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef STALLS
#define STALLS 1
#endif
#define RUNS 2
#define OWNERS 6 /* two runners, each born again after a crash */

mtype:status = { ACTIVE, WAITING, PAUSED };
mtype:control = { PAUSE, RESUME, TERMINATE, RESTART, EVENT };

/* The instance row. */
byte the_run = 1;

/* The task row; there is one while the run is open. */
bool has_task = true;
byte epoch = 0;
mtype:status status = ACTIVE;
bool due = true;
bool processing = false;
byte owner = 0;
bool expired = false; /* locked_until has passed */
bool pause_requested = false;
byte event_seq = 0;

/* The step rows of the current run. */
bool a_done = false, wait_recorded = false, event_taken = false;

/* The first runner's inbox for claims that the client made for it. */
chan inbox = [1] of { byte, byte, byte };

byte owner_of[3]; /* of runner 1 and 2, in their present life */
bool dead[OWNERS];
byte crashes = CRASHES, stalls = STALLS;

/* Not of the protocol, but of the properties. */
byte holder = 0;           /* the runner that claimed last */
bool pause_wanted = false; /* the last word of the client */

#if defined(NO_FENCE)
#define TURN_HOLDS(r, e) (has_task)
#elif defined(NO_RUN)
#define TURN_HOLDS(r, e) (has_task && epoch == e)
#else
#define TURN_HOLDS(r, e) (has_task && the_run == r && epoch == e)
#endif

#ifdef NO_FLAG
#define PAUSE_SEEN false
#else
#define PAUSE_SEEN pause_requested
#endif

/* ---- Ops ----------------------------------------------------------------------------------------------------- */

inline raise_epoch()
{
    epoch++;
    assert(epoch < 50);
}

/* A pause that was asked for takes effect: the status becomes PAUSED whatever was said. */
inline park(new_status, new_due)
{
    raise_epoch();
    status = (PAUSE_SEEN -> PAUSED : new_status);
    due = new_due;
    processing = false;
    owner = 0;
    expired = false;
    pause_requested = false;
    holder = 0;
}

/* Claims keep a request for a pause, holds clear it. */
inline take(runner, keep_request)
{
#ifndef NO_RAISE
    raise_epoch();
#endif
    status = ACTIVE;
    processing = true;
    owner = owner_of[runner];
    expired = false;
    pause_requested = pause_requested && keep_request;
    holder = runner;
}

inline finish()
{
    has_task = false;
    processing = false;
    owner = 0;
    expired = false;
    pause_requested = false;
    holder = 0;
}

/* ---- A runner ------------------------------------------------------------------------------------------------- */

/* What a unit of a turn must be true of when it is applied (P1). */
inline check_commit()
{
    assert(my_run == the_run);
    assert(holder == me);
}

/* Between any two units: the runner dies, or renews its lease. */
#define OR_DIE                                                                                                         \
    :: atomic {                                                                                                        \
        crashes > 0 -> crashes--;                                                                                      \
        dead[owner_of[me]] = true;                                                                                     \
        owner_of[me] = owner_of[me] + 2;                                                                               \
        warm_run = 0;                                                                                                  \
        if                                                                                                             \
        :: me == 1 && nempty(inbox) -> inbox?_, _, _                                                                   \
        :: me != 1 || empty(inbox)                                                                                     \
        fi;                                                                                                            \
        goto idle                                                                                                      \
    }
#define OR_RENEW                                                                                                       \
    :: atomic {                                                                                                        \
        has_task && processing && expired && owner == owner_of[me] && the_run == my_run && epoch == my_epoch ->        \
        expired = false;                                                                                               \
        goto go_on                                                                                                     \
    }

proctype Runner(byte me)
{
    byte my_run, my_epoch, my_seq;
    bool knows_a, knows_wait, knows_event, saw_pause;
    byte warm_run = 0, warm_epoch = 0; /* the fence at which what is known was left in memory */

idle:
    /* What is not kept warm is forgotten; so there are fewer states to tell apart. */
    atomic {
        saw_pause = false;
        my_run = 0;
        my_epoch = 0;
        if
        :: warm_run == 0 -> my_seq = 0; knows_a = false; knows_wait = false; knows_event = false
        :: else
        fi
    };
end_idle:
    if
    :: atomic {
        has_task && ((!processing && status != PAUSED && due) || (processing && expired && !PAUSE_SEEN)) ->
        take(me, true);
        my_run = the_run;
        my_epoch = epoch;
        if
        :: warm_run == my_run && warm_epoch + 1 == my_epoch
        :: else -> my_seq = 0; warm_run = 0
        fi
    }
    :: atomic { has_task && processing && expired && PAUSE_SEEN -> park(PAUSED, due); goto idle }
    :: atomic {
        me == 1 && nempty(inbox) -> inbox?my_run, my_epoch, my_seq;
        if
        :: warm_run == my_run && warm_epoch + 1 == my_epoch
        :: else -> warm_run = 0
        fi
    }
    fi;
    /* Steps are read unless they are in memory, events always: those that came since. */
    if
    :: atomic {
        if
        :: warm_run == 0 -> knows_a = a_done; knows_wait = wait_recorded; knows_event = event_taken
        :: else
        fi;
        my_seq = event_seq;
        warm_run = 0;
        warm_epoch = 0
    }
    OR_DIE
    fi;

go_on:
    if
    OR_DIE
    OR_RENEW
    :: atomic {
        !saw_pause && !knows_a ->
        if
        :: TURN_HOLDS(my_run, my_epoch) ->
            check_commit();
            assert(!a_done);
            a_done = true;
            knows_a = true;
            saw_pause = PAUSE_SEEN;
            goto go_on
        :: else -> goto idle
        fi
    }
    :: atomic {
        !saw_pause && knows_a && !knows_event && my_seq > 0 ->
        if
        :: TURN_HOLDS(my_run, my_epoch) ->
            check_commit();
            assert(!event_taken);
            event_taken = true;
            knows_event = true;
            saw_pause = PAUSE_SEEN;
            goto go_on
        :: else -> goto idle
        fi
    }
    :: atomic {
        !saw_pause && knows_a && !knows_event && my_seq == 0 && !knows_wait ->
        if
        :: TURN_HOLDS(my_run, my_epoch) ->
            check_commit();
            wait_recorded = true;
            knows_wait = true;
            saw_pause = PAUSE_SEEN;
            goto go_on
        :: else -> goto idle
        fi
    }
    /* The closing unit: waiting, finished, or paused.  The first two are refused when a pause is asked for. */
    :: atomic {
        !saw_pause && knows_wait && !knows_event && my_seq == 0 ->
        if
        :: TURN_HOLDS(my_run, my_epoch) && PAUSE_SEEN -> saw_pause = true; goto go_on
        :: TURN_HOLDS(my_run, my_epoch) && !PAUSE_SEEN ->
            check_commit();
#ifdef NO_EVENT_SEQ
            park(WAITING, false);
#else
            park(WAITING, (event_seq > my_seq));
#endif
            warm_run = my_run;
            warm_epoch = my_epoch + 1;
            goto idle
        :: else -> goto idle
        fi
    }
    :: atomic {
        !saw_pause && knows_event ->
        if
        :: TURN_HOLDS(my_run, my_epoch) && PAUSE_SEEN -> saw_pause = true; goto go_on
        :: TURN_HOLDS(my_run, my_epoch) && !PAUSE_SEEN -> check_commit(); finish(); goto idle
        :: else -> goto idle
        fi
    }
    :: atomic {
        saw_pause ->
        if
        :: TURN_HOLDS(my_run, my_epoch) ->
            check_commit();
#ifdef PAUSE_UNASKED
            park(PAUSED, true);
#else
            park(ACTIVE, true);
#endif
            warm_run = my_run;
            warm_epoch = my_epoch + 1;
            goto idle
        :: else -> goto idle
        fi
    }
    fi
}

/* ---- Time ----------------------------------------------------------------------------------------------------- */

/* Leases of the dead end, by the clock or by a reap; those of the living only STALLS times. */
active proctype Time()
{
end_time:
    do
#ifndef NO_EXPIRY
    :: atomic { has_task && processing && !expired && dead[owner] -> expired = true }
#endif
    :: atomic { has_task && processing && !expired && !dead[owner] && stalls > 0 -> stalls--; expired = true }
    od
}

/* ---- The client ------------------------------------------------------------------------------------------------ */

/* In the local runner where that has room, otherwise as a task that is due now. */
inline go_on_with_run()
{
    if
    :: nfull(inbox) -> take(1, false); inbox!the_run, epoch, event_seq
    :: park(ACTIVE, true)
    fi
}

inline restart_run()
{
    the_run++;
    has_task = true;
    epoch = 0;
    status = ACTIVE;
    due = true;
    processing = false;
    owner = 0;
    expired = false;
    pause_requested = false;
    event_seq = 0;
    a_done = false;
    wait_recorded = false;
    event_taken = false;
    holder = 0;
    pause_wanted = false;
    if
    :: nfull(inbox) -> epoch = 1; processing = true; owner = owner_of[1]; holder = 1; inbox!the_run, epoch, event_seq
    :: skip
    fi
}

active proctype Client()
{
    byte left = CONTROLS, at_run, at_epoch;
    mtype:control what;
    mtype:status saw_status;
    bool saw_task, saw_held, saw_request, awaited;

    do
    :: atomic {
        left > 0 -> left--;
        if
        :: what = PAUSE
        :: what = RESUME
        :: what = TERMINATE
        :: the_run < RUNS -> what = RESTART
        :: what = EVENT
        fi
    };
retry:
        atomic {
            saw_task = has_task;
            at_run = the_run;
            at_epoch = epoch;
            saw_status = status;
            saw_held = processing && !expired;
            saw_request = pause_requested;
            if
            :: what == EVENT && saw_status == WAITING
            :: else -> goto decide
            fi
        };
        awaited = wait_recorded && !event_taken; /* another read */
decide:
        atomic {
            if
            :: !saw_task && what != RESTART /* has finished: told so */
            :: !saw_task && what == RESTART && the_run == at_run -> restart_run()
            :: !saw_task && what == RESTART && the_run != at_run -> goto retry
            :: saw_task && !(has_task && the_run == at_run && epoch == at_epoch) -> goto retry
            :: saw_task && has_task && the_run == at_run && epoch == at_epoch ->
                if
                :: what == PAUSE && saw_status == PAUSED
                :: what == PAUSE && saw_status != PAUSED && saw_held -> pause_requested = true; pause_wanted = true
                :: what == PAUSE && saw_status != PAUSED && !saw_held -> park(PAUSED, due); pause_wanted = true
                :: what == RESUME && saw_status == PAUSED -> go_on_with_run(); pause_wanted = false
                :: what == RESUME && saw_status != PAUSED && saw_request -> pause_requested = false; pause_wanted = false
                :: what == RESUME && saw_status != PAUSED && !saw_request
                :: what == TERMINATE -> finish()
                :: what == RESTART -> restart_run()
                :: what == EVENT && !awaited -> event_seq++
                :: what == EVENT && awaited -> event_seq++; go_on_with_run()
                fi
            fi;
            /* Nothing of this operation is remembered. */
            what = PAUSE;
            saw_task = false;
            at_run = 0;
            at_epoch = 0;
            saw_status = ACTIVE;
            saw_held = false;
            saw_request = false;
            awaited = false
        }
    :: left == 0 -> break
    od
}

init
{
    atomic {
        owner_of[1] = 1;
        owner_of[2] = 2;
        run Runner(1);
        run Runner(2)
    }
}

/* ---- When nothing can happen any more -------------------------------------------------------------------------- */

active proctype Monitor()
{
    timeout ->
    assert(!has_task || !processing);
    assert(!pause_requested);
    assert(!has_task || pause_wanted == (status == PAUSED));
    assert(!has_task || status == PAUSED || (status == WAITING && a_done && event_seq == 0))
}

/* The same of a pause as a property of every execution, under weak fairness. */
ltl pause_is_honoured { [] (pause_requested -> <> !pause_requested) }
