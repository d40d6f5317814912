/* runner.h (internal) - one runner's state, shared by its threads.
 *
 *   workers   take ready turns and run their passes; help with the branches of forks; lead commits when idle
 *   keeper    claims, renews leases, watches attempts, sleeps until the next of these is due
 *   tick's keeper  renews the leases of a tick, from its first turn to its end, and watches its code
 *
 * Locks: a turn's lock may be taken while the runner's is held, never the other way round; neither is held over a
 * commit, a read or user code. */
#ifndef PW_RUNNER_RUNNER_H
#define PW_RUNNER_RUNNER_H

#include "pawl/runner.h"
#include "runner/cache.h"
#include "turn/turn.h"

enum { PW_RUNNER_NAME_SIZE = 256 };

/* What the runner knows of the others, and its share of the work; the keeper's alone.  See share.c. */
struct pw_view {
    struct pw_arena arena; /* of what follows */
    struct pw_text *owned; /* as struct pw_share has them, in the order of pw_runner_names(); NULL: all is ours */
    size_t count;
    uint64_t digest; /* of what it was made from; 0: of nothing */
    bool told;       /* others were told that it takes its share */
};

/* A lease that the store did not take back while it was in trouble. */
struct pw_owed {
    struct pw_fence fence;
    bool is_job;
    struct pw_owed *next;
};

struct pawl_runner {
    pawl_engine *engine;
    struct pawl_runner_options options; /* filled in: no zeroes */
    int64_t owner;
    struct pw_turn_host host; /* as its turns see it */
    struct pw_local local;    /* as services see it, when started */
    struct pw_peer peer;
    bool announced;
    char name[PW_RUNNER_NAME_SIZE];
    int64_t started_at_ms; /* when it was opened, by the store's clock */
    struct pw_view view;
    atomic_bool has_others; /* others that share its workflows; see share.c */

    atomic_bool stopping;
    atomic_int ready_count;  /* turns that wait for a worker */
    atomic_llong steps_left; /* tick's budget of bodies; negative: no limit */
    atomic_llong steps_taken;
    atomic_bool threaded;          /* started */
    atomic_bool ticking;           /* a tick is under way */
    _Atomic int64_t limits_met_ms; /* when a limit last kept a job that was due from a tick, by the store's clock */

    pthread_mutex_t lock;                /* guards all that follows */
    pthread_cond_t work;                 /* workers wait here */
    pthread_cond_t watch;                /* the keeper waits here */
    pthread_cond_t left;                 /* a thread or a helper left */
    pawl_turn *ready_first, **ready_end; /* end: where the next one is linked */
    pawl_turn *held;                     /* every turn that this runner holds a lease for */
    int64_t held_count;
    int64_t reserved;      /* promised to services */
    int64_t fresh;         /* held turns that no worker has begun */
    int64_t window;        /* how many fresh turns it may hold: grows while they are begun soon */
    struct pw_help *helps; /* forks that idle workers may help with */
    struct pw_cache cache;
    int32_t workers_alive;
    pthread_t gone; /* the worker that left last; it joins the one that left before it */
    bool has_gone;
    uint64_t calls; /* counts pw_runner_call(), so that a worker that led a commit knows whether it missed one */
    int32_t spares; /* extra workers, while the author's code blocks threads: see blocked.c */
    pthread_mutex_t tick_keeper_lock; /* guards the next two; a leaf: may be taken while any other is held */
    pthread_t tick_keeper;
    bool tick_kept;            /* the tick under way has a keeper */
    pthread_mutex_t tick_lock; /* one tick at a time; it guards the next two */
    bool limited_first;        /* the next claim asks functions that have a limit before the rest */
    size_t limited_next;       /* the one of them that is asked first */
    pthread_t keeper;
    bool started, keeper_done;
    int64_t next_due_ms;               /* the earliest time at which something may be due, hints included */
    int64_t seen_due_ms;               /* the same without hints: the store has said so */
    int64_t parked_due_ms;             /* when a run is due that we parked and that others find too late */
    int64_t withheld_ms;               /* how long the keeper last waited for what was withheld */
    int64_t keeper_until_ms;           /* it sleeps until then, by the store's clock */
    int64_t keeper_until_monotonic_ms; /* the same by the engine's monotonic clock */
    int64_t poll_at_ms, reap_at_ms;    /* by the system's monotonic clock, as polls of other processes */
    int64_t renew_at_ms;               /* by the engine's */
    int64_t watch_at_ms;               /* the same: when to look for bodies and code that are late */
    int64_t turns, leases_lost;
    struct pw_owed *owed;
    int64_t trouble_ms;       /* how long turns are put off after the store failed them */
    int64_t trouble_until_ms; /* until then it is the same trouble */
};

/* work.c */
struct pw_turn_host pw_runner_host(pawl_runner *runner);
/* The branches of the turn may want help again; NULL: those of any turn whose time has come.  With the lock held. */
void pw_runner_stir(pawl_runner *runner, const pawl_turn *turn, int64_t now_ms);
void pw_runner_call(pawl_runner *runner, bool all); /* there is something for a worker; with the lock held */
bool pw_runner_spawn(pawl_runner *runner);          /* a worker; with the lock held */
/* Makes a claimed run a turn that waits for a worker.  When memory is out the lease is left to expire. */
void pw_runner_accept(pawl_runner *runner, const struct pw_claim *claim);
pawl_turn *pw_runner_make_turn(pawl_runner *runner, const struct pw_claim *claim);
pawl_status pw_runner_load(pawl_runner *runner, pawl_turn *turn);
void pw_runner_retire(pawl_runner *runner, pawl_turn *turn);
void pw_runner_pay_owed(pawl_runner *runner);                       /* tries once more to give back what is owed */
void pw_runner_wake_keeper(pawl_runner *runner, int64_t due_at_ms); /* with the lock held */
void pw_runner_push_ready(pawl_runner *runner, pawl_turn *turn);    /* with the lock held */
pawl_turn *pw_runner_pop_ready(pawl_runner *runner);                /* with the lock held; NULL: there is none */
/* To be called when the pass of a turn that was given up has returned.  True: whoever closes the turn retires it. */
bool pw_runner_leave_given_up(pawl_runner *runner, pawl_turn *turn);

/* blocked.c.  All with the lock held, but for the first and the last. */
bool pw_runner_takes_nothing(const pawl_runner *runner); /* because it is full, or the database has a newer schema */
bool pw_runner_is_full(const pawl_runner *runner);       /* blocked_max threads are blocked: nothing new is taken */
/* Starts the workers that are missing.  What the system refuses is tried again at the next look. */
void pw_runner_stand_in(pawl_runner *runner);
/* To be called when a thread leaves a turn: a helper, or, with ends_pass, the last one. */
void pw_runner_leave_turn(pawl_runner *runner, pawl_turn *turn, bool ends_pass);
/* Acts on what the watchdog found in the turn. */
void pw_runner_take_over(pawl_runner *runner, pawl_turn *turn, const struct pw_watch *watch);
/* The watchdog: looks for bodies and workflow code that are late, when it is time to. */
void pw_runner_watch(pawl_runner *runner, int64_t monotonic_ms);
/* A call of the author's code that was listed as blocked has returned. */
void pw_runner_call_returns(pawl_runner *runner, pawl_turn *turn, struct pw_blocked_call *call);

/* claim.c */
/* Each registered workflow is in one of the first three classes. */
enum pw_names {
    PW_NAMES_POLLED = 1,  /* without a turn function */
    PW_NAMES_FREE = 2,    /* with one */
    PW_NAMES_LIMITED = 4, /* with one, of a function that has a limit: pawl_limit_function() */
    PW_NAMES_UNLIMITED = PW_NAMES_POLLED | PW_NAMES_FREE,
    PW_NAMES_DRIVEN = PW_NAMES_FREE | PW_NAMES_LIMITED,
    PW_NAMES_ALL = PW_NAMES_DRIVEN | PW_NAMES_POLLED
};
/* The names of registered workflows, in the arena.  NULL when memory is out. */
struct pw_text *pw_runner_names(pawl_engine *engine, enum pw_names which, struct pw_arena *arena, size_t *out_count);
enum pw_claim_of {
    PW_CLAIM_DUE,    /* of workflows with a turn function: our share, where there are others */
    PW_CLAIM_ALL,    /* and what dead runners left, which costs a look at every lease */
    PW_CLAIM_PARKED, /* as DUE, whoever's share it is */
    PW_CLAIM_POLLED  /* of workflows without a turn function: all, and what dead runners left */
};
/* Claims up to max tasks; they are in the unit's arena.  limited NULL: of workflows that have no limit.  Otherwise of this
 * function, whoever's share it is; PW_CLAIM_ALL still looks for what dead runners left.  Only a claim can tell whether a job of
 * such a function may be taken, so pw_runner_next_due() leaves them out. */
pawl_status pw_runner_claim(pawl_runner *runner, struct pw_unit *unit, enum pw_claim_of what,
                            const struct pw_text *limited, size_t max, struct pw_op_claim **out_claim,
                            struct pawl_error *error);
/* When the first of these is due past after_ms, or PW_EVER; is_own: of our share.  NULL names: memory is out. */
pawl_status pw_runner_next_of(pawl_runner *runner, struct pw_arena *arena, const struct pw_text *names, size_t count,
                              bool is_own, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error);
/* The same for our share of all that PW_CLAIM_DUE claims. */
pawl_status pw_runner_next_due(pawl_runner *runner, int64_t after_ms, int64_t *out_at_ms, struct pawl_error *error);

/* share.c.  None of it is needed to carry runs: what fails is tried again later. */
/* "host:process", unless one was given. */
void pw_runner_make_name(char name[PW_RUNNER_NAME_SIZE], const char *given);
/* Lets others see this runner as it is. */
void pw_runner_describe(pawl_runner *runner, bool is_sharing);
/* For the keeper: reads which runners there are, takes its share, and describes itself if the others do not know yet. */
void pw_runner_look_around(pawl_runner *runner);
/* For the keeper: leaves all runs to the others, and says so. */
void pw_runner_leave_share(pawl_runner *runner);
void pw_view_clear(struct pw_view *view);

/* keeper.c */
size_t pw_runner_room(const pawl_runner *runner); /* how many runs it may still take; with the lock held */
void *pw_keeper_main(void *runner);
/* Makes sure that the tick under way has a keeper, which renews its leases and watches its code.  False: it has none. */
bool pw_tick_is_kept(pawl_runner *runner);
void pw_tick_end(pawl_runner *runner);

#endif
