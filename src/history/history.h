/* history.h - one run in memory: its steps by name, and the events that no step has taken yet.
 *
 *  H1. A step is found by its trimmed name.  Its row is what the store holds, or will hold once the queued units are applied.
 *  H2. A step gets its seq number when it is first recorded.  Numbers start at 1 and are not reused.
 *  H3. An event is taken once, the oldest first, and only by a wait that ends no earlier than the event was sent.
 *  H4. Recorded times never go back, whatever the clock does.  A step with a higher number was not created before one with a
 *      lower number, and no step changes before its creation or its last change.  If a body began before another step was
 *      recorded, and its own step is recorded after that one, both count as created at the same time.  Planned times
 *      (wake_at, next_retry_at) follow the clock alone.
 *
 * Pure memory: no I/O, no clock, no lock.  A history outlives turns, because a runner keeps recent ones in a cache. */
#ifndef PW_HISTORY_HISTORY_H
#define PW_HISTORY_HISTORY_H

#include "base/table.h"
#include "store/store.h"

struct pawl_lane;
struct pw_mutation;

struct pw_step {
    struct pw_step_row row; /* seq 0: not recorded yet */
    uint64_t recorded_pass; /* the pass in which its row last changed; 0: it was read from the store */
    uint64_t answered_at;   /* the moment at which its outcome was last handed out for the first time in a turn */
    uint64_t reached_pass;  /* the pass in which a call last reached it */
    struct pawl_lane *lane; /* the lane of that call; meaningless in another pass */
    bool running;           /* its body is under way */

    /* The unit that must be answered before the outcome may be handed out, because the store may still refuse it. */
    int64_t unsettled;        /* 0: settled */
    bool in_store;            /* the store has the row, or will have it once the queued units are applied */
    enum pw_refusal rejected; /* why that unit was refused */
    struct pw_text rejected_text;
    const struct pw_mutation *mutations; /* of the attempt that is not settled yet */
    struct pawl_policy policy;           /* of that attempt */

    struct pw_step *next; /* in order of appearance */
};

struct pw_event {
    struct pw_event_row row;
    bool taken;
    struct pw_event *next;
};

struct pw_history {
    struct pw_arena arena;
    struct pw_text params;
    int64_t created_at_ms;
    struct pw_link link;
    struct pw_text parent_workflow, parent_id; /* if it is a child; absent: it has no parent, or is a job */
    struct pw_table by_name;
    struct pw_step *first, *last;
    int64_t seq_last;
    int64_t counted, waits; /* how many steps count against the limit of steps, and against that of waits */
    bool has_calls;         /* some of its steps are jobs */
    int64_t finished_at_ms; /* when a step last finished */
    int64_t
        created_last_ms; /* when the newest recorded step was created, or the time of the claim if that is later (H4) */
    int64_t newest_ms;   /* the newest time of all its steps */
    struct pw_event *first_event, *last_event;
    /* Passes number the runs of the workflow function while this history is in memory.  A number below turn_pass
     * means that something happened before this turn.  So a turn can begin without touching every step. */
    uint64_t pass, turn_pass;
    uint64_t moment, turn_moment; /* answers handed out so far, and at the beginning of the turn */
    int64_t event_seq;            /* every event up to this number is known here */
};

struct pw_history *pw_history_new(void);
void pw_history_free(struct pw_history *history); /* NULL is fine */
size_t pw_history_bytes(const struct pw_history *history);

/* Copies rows that were read.  False when memory is out; then the history is useless. */
bool pw_history_load(struct pw_history *history, const struct pw_step_row *rows, size_t count);
bool pw_history_load_events(struct pw_history *history, const struct pw_event_row *rows, size_t count);

/* claimed_at_ms is the newest time of the run when it was claimed.  No later step is older. */
void pw_history_begin_turn(struct pw_history *history, int64_t claimed_at_ms);
void pw_history_begin_pass(struct pw_history *history);

/* True if the step's outcome was known before this turn. */
bool pw_step_is_replay(const struct pw_history *history, const struct pw_step *step);
/* Notes that the outcome is handed out now.  True if it was not handed out in this turn before the moment `since`. */
bool pw_step_note_answer(struct pw_history *history, struct pw_step *step, uint64_t since);

struct pw_step *pw_history_find(const struct pw_history *history, struct pw_text name);
/* Adds a step that waits to be recorded.  The name is copied.  NULL when memory is out. */
struct pw_step *pw_history_add(struct pw_history *history, struct pw_text name, enum pawl_step_kind kind);

/* True if the engine has nothing to run for it, so that it counts against the limit of waits instead of that of steps. */
bool pw_step_kind_is_wait(enum pawl_step_kind kind);
bool pw_step_is_finished(const struct pw_step *step);
/* Sets the times of a row that is about to be written.  The first time is the step's creation. */
void pw_step_stamp(const struct pw_history *history, struct pw_step *step, int64_t now_ms);
/* Numbers a step that is recorded for the first time, or again after a refusal, and adjusts its times (H2, H4). */
void pw_step_number(struct pw_history *history, struct pw_step *step);
/* Finishes the step in this state, now or after the step that finished last, even if the clock was set back in
 * between.  The order matters, because steps are undone in the reverse of it, and a retry repeats the one that
 * failed last. */
void pw_step_finish(struct pw_history *history, struct pw_step *step, enum pawl_step_state state, int64_t now_ms);

/* The oldest event of this type that no step has taken and that was sent by then, or NULL. */
struct pw_event *pw_history_event_for(const struct pw_history *history, struct pw_text type, int64_t until_ms);

#endif
