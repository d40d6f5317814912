/* world.h - a simulated world: processes with an engine and runners each, clients, one clock, one store in memory, all in
 * one thread.  Who goes next, what fails and how time jumps comes from the seed alone.
 *
 * Of eight worlds, seven are on the store of tests/memory, which is fast, and one is on SQLite.  The stores outlive the
 * processes of a world, and are emptied before the next one.
 * A process that crashes has every call on its store fail until nothing of it is left on the stack; then its runners are
 * closed and new ones opened, with new names, while the leases of the old ones stay behind.
 * A body runs other actors of the world before it returns (an interlude), so turns and calls overlap as they would in
 * several threads.  Half of what clients do goes over HTTP (ask.h).  In some worlds hooks are registered: each process
 * has two engines, of which a world uses the one with hooks or the one without. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "ask.h"
#include "plants.h"
#include "pawl/runner.h"
#include "testing/forward.h"

enum { SIM_PROCESSES_MAX = 3, SIM_RUNNERS_MAX = 2, SIM_PROGRAMS_MAX = 4, SIM_DEPTH_MAX = 3, SIM_ANSWERS_MAX = 256 };

/* How wild a world is: in so many of a thousand cases. */
struct sim_mood {
    int fail_before, fail_after, crash_before, crash_after, fail_read; /* of the store's calls */
    int interlude;                                                     /* of bodies, and of reads by clients */
    int body_fails, body_fails_for_good, body_is_late, body_crashes;
    int clock_creeps; /* of readings */
    int sets_back;    /* of waits: wall time, by up to 100 seconds */
    int jumps;        /* of waits: wall time, by an hour, forward or back */
    int stops;        /* of a process, at the store's calls of its runners, and just before a body begins */
    int yields;       /* of waits for a commit */
    int gives_up;     /* of passes, before anything is asked for: as a binding without memory does */
    int hook_fails, hook_refuses, hook_crashes; /* of attempts to deliver */
    int looks_around; /* of what loose runners do; 0: they do not know of each other, and share nothing */
    int64_t lease_ms;
    bool always_replay, no_cache;
    bool tick_alone; /* of runners that tick */
};

struct sim_runner {
    pawl_runner *runner;
    int64_t owner;
    bool is_busy; /* ticking, somewhere below on the stack */
};

/* The delivery that a process claimed last.  Between the claim and the call of its hook it claims no other. */
struct sim_errand {
    int64_t epoch;
    int64_t locked_until_ms; /* wall time */
    int64_t leased_until_ms; /* by the monotonic clock, as late as can be */
};

struct sim_process {
    struct sim_port *ports[2]; /* of its engines: without hooks, and with them */
    pawl_engine *engines[2];
    pawl_engine *engine; /* the one of this world */
    pawl_http *http;
    bool is_draining;
    unsigned hooks; /* that it delivers: a bit each */
    struct sim_errand errand;
    struct sim_runner runners[SIM_RUNNERS_MAX];
    int runner_count;
    bool is_loose; /* its runners are as started ones, see loose.c; otherwise they tick */
    bool is_dead;
    bool is_stopped;      /* for some time: nothing of it runs, and it does not know */
    int64_t looked_at_ms; /* when it last looked at the monotonic clock, by that clock */
    struct sim_world *world;
    int on_stack; /* calls into its engine that have not returned */
};

/* What happened, over all seeds of a process. */
/* clang-format off */
#define SIM_COUNTS(COUNT)                                                                                              \
    COUNT(seeds) COUNT(actions) COUNT(turns) COUNT(commits) COUNT(units) COUNT(bodies) COUNT(crashes) COUNT(errors)     \
    COUNT(ambiguous) COUNT(lost) COUNT(refused) COUNT(expired) COUNT(calls) COUNT(complete) COUNT(errored)             \
    COUNT(terminated) COUNT(restarts) COUNT(paused) COUNT(requests) COUNT(waits) COUNT(told) COUNT(reconnects)         \
    COUNT(deliveries) COUNT(attempts) COUNT(undelivered) COUNT(set_back) COUNT(jumped) COUNT(stopped) COUNT(late)
/* clang-format on */
struct sim_counts {
#define SIM_COUNT_FIELD(name) uint64_t name;
    SIM_COUNTS(SIM_COUNT_FIELD)
#undef SIM_COUNT_FIELD
    uint64_t transitions[SIM_TRANSITION_COUNT];
};

/* Who calls the store: where others may come in between. */
enum sim_context { SIM_CONTEXT_RUNNER, SIM_CONTEXT_LOOK, SIM_CONTEXT_CLIENT, SIM_CONTEXT_RESULT, SIM_CONTEXT_STREAM };

/* A job as a worker outside knows it. */
enum { SIM_JOBS_MAX = 4 };
struct sim_job {
    char token[SIM_TARGET_MAX]; /* "": none */
    int64_t key, deadline_ms, attempt;
    struct pw_fence fence;
};

/* Whom a unit's answer is for; see port.c. */
struct sim_answer {
    struct sim_world *world;
    void (*done)(struct pw_unit *unit, void *user); /* NULL: free */
    void *user;
};

struct sim_world {
    struct sim_chance chance;  /* of everything that happens */
    struct sim_chance engines; /* what the engines draw themselves */
    int64_t now_ms, start_ms;  /* wall time; the monotonic clock is the model's */
    int64_t commit_ms;         /* the time of the commit under way; 0: none is */
    struct sim_mood mood;
    struct sim_program programs[SIM_PROGRAMS_MAX];
    struct sim_model model;
    struct pw_store *sqlite, *memory;
    struct sqlite3 *db;    /* SQLite's connection */
    bool only_sqlite;      /* asked for: no world is on the store of tests/memory */
    bool in_memory;        /* this world is */
    struct pw_store *base; /* the store of this world */
    struct sim_process processes[SIM_PROCESSES_MAX];
    int process_count;
    int depth;    /* of interludes */
    bool is_calm; /* no more faults, no more interludes */
    enum sim_context context;
    uint64_t interludes, faults, applied; /* so far */
    uint64_t applied_of_turns;            /* of these, what turns recorded */
    uint64_t applied_at_interlude;        /* when the last one ended */
    bool has_others;  /* its programs call workers, make children, wait for deferreds, and undo what they did */
    bool has_repairs; /* some of them wait for repair when their work failed */
    int events_sent, names_made;
    struct sim_ask asks[SIM_ASKS_MAX];
    struct sim_follower followers[SIM_FOLLOWERS_MAX];
    struct sim_answer answers[SIM_ANSWERS_MAX];
    int answering; /* an answer is given out by the committer, which can be asked for nothing meanwhile */
    struct sim_plant plant;
    struct sim_job jobs[SIM_JOBS_MAX]; /* that workers outside hold, or believe to */
    int jobs_said;                     /* words of theirs */
    struct sim_counts *counts;
};

/* Opens the stores and the engines, once for all seeds. */
void sim_world_open(struct sim_world *world, struct sim_counts *counts);
void sim_world_close(struct sim_world *world);

/* One life of the world.  Ends the process when an invariant does not hold. */
void sim_world_run(struct sim_world *world, uint64_t seed);

/* ---- Between the parts --------------------------------------------------------------------------------------------- */

/* Time passes, up to this wall time; it never goes back. */
void sim_clock_to(struct sim_world *world, int64_t at_ms);
void sim_pass(struct sim_world *world, int64_t ms);
/* By chance, others go on before the caller does. */
void sim_interlude(struct sim_world *world);
/* May others come in here at all? */
bool sim_may_interlude(const struct sim_world *world);
/* For certain, and for longer. */
void sim_interlude_long(struct sim_world *world);
void sim_tick(struct sim_world *world, struct sim_process *process, struct sim_runner *runner, int64_t max_instances,
              int64_t max_steps, int64_t *out_processed);
/* Something of the process has come back; if it is dead and this was the last, it rises again. */
void sim_process_left(struct sim_world *world, struct sim_process *process);
void sim_process_crash(struct sim_world *world, struct sim_process *process);
/* By chance, it is stopped (SIGSTOP), for a part of a lease or for some of them.  Others go on, and it does not know. */
void sim_process_stop(struct sim_world *world, struct sim_process *process);
struct sim_process *sim_process_of(struct sim_world *world, const pawl_engine *engine);
/* By chance; NULL when it is dead, or about to stop. */
struct sim_process *sim_process_choose(struct sim_world *world);
/* All that is queued in its committer is answered. */
void sim_process_commit(struct sim_process *process);
/* What the threads that a started runner lends would do next: one batch, or one chore.  False: there is none. */
bool sim_process_serve(struct sim_process *process);

/* loose.c: some of what the threads of a started runner do. */
void sim_loose_open(struct sim_world *world, struct sim_process *process, struct sim_runner *runner);
void sim_loose_act(struct sim_world *world, struct sim_process *process, struct sim_runner *runner);
/* One claim, and everything that it held is carried to its turn's end; answers how many were claimed. */
int64_t sim_loose_tick(struct sim_world *world, struct sim_process *process, struct sim_runner *runner);
/* What its watchdog does. */
void sim_loose_watch(struct sim_world *world, struct sim_process *process);
/* Until no turn is held: they end, or fail when the process is dead. */
void sim_loose_finish(struct sim_world *world, struct sim_process *process, struct sim_runner *runner);
/* No more bodies; what is held is given back, or lost when the process is dead. */
void sim_loose_stop(struct sim_world *world, struct sim_process *process, struct sim_runner *runner);

/* client.c: one call of a client, chosen by chance. */
void sim_client_create(struct sim_world *world);
void sim_client_event(struct sim_world *world);
void sim_client_control(struct sim_world *world);
void sim_client_restart_from(struct sim_world *world);
void sim_client_look(struct sim_world *world);
void sim_client_complete(struct sim_world *world);
void sim_client_family(struct sim_world *world);
void sim_client_resume_all(struct sim_world *world);
/* Of one that waits for repair somebody has mended, mostly, what was wrong, and resumes it.  False: none does. */
bool sim_client_mend(struct sim_world *world);
/* Somebody wants something of a run whose turn is about to end. */
void sim_client_disturb(struct sim_world *world, struct sim_instance *instance);
/* This is done to all that wait for repair.  False: none did. */
bool sim_client_mend_all(struct sim_world *world, enum sim_deed_kind kind);
/* Directly or over HTTP, at any process that lives. */
void sim_client_perform(struct sim_world *world, struct sim_deed *deed);

/* worker.c: somebody outside claims a job, or says something about one that it has or had. */
void sim_worker_act(struct sim_world *world);

/* play.c: the one workflow function, and that of jobs; user is the world. */
void sim_play(pawl_turn *turn, void *user);
void sim_work(pawl_turn *turn, void *user);

/* stores.c: the options' URL is SQLite's.  Choosing empties the store of the seed, and gives it to all processes. */
void sim_stores_open(struct sim_world *world, const struct pawl_options *options);
void sim_stores_choose(struct sim_world *world, uint64_t seed);
void sim_stores_close(struct sim_world *world);

/* compare.c: the store's rows against the model. */
void sim_compare(struct sim_world *world);

/* stores.c: all rows, handed over one by one (compare.h); and the user's tables, sim_effect and sim_unique, which have a tag.  A
 * mutation inserts one into the first. */
struct sim_comparison;
void sim_sqlite_rows(struct sqlite3 *db, struct sim_comparison *comparison);
void sim_memory_rows(struct pw_store *memory, struct sim_comparison *comparison);
pawl_status sim_sqlite_insert(void *connection, const char *tag);
pawl_status sim_memory_insert(void *connection, const char *tag);

/* port.c: a process's view of the store.  As pw_store_wrap_fn; user is the struct sim_port to fill. */
struct sim_port {
    struct pw_forward forward;
    struct sim_world *world;
    int process; /* position */
};
struct pw_store *sim_port_wrap(struct pw_store *unwanted, void *port);

#endif
