/* load.c - reads a run from the store for its next turn: what it began with, its steps, its unread events.
 *
 * The size of a run is not known before it is read.  So memory up to a limit is held in the engine's budget, and the
 * run is read up to that limit.  If it is larger, it is read again with a larger limit.  Nothing waits here: a run
 * for which there is no memory is given back, and holds nothing until it is claimed again. */
#include "base/error.h"
#include "turn/lines.h"

void pw_turn_note_gap(pawl_turn *turn, const struct pw_history *history, int64_t known, const struct pw_event_row *rows,
                      size_t count)
{
    int64_t missing = history->event_seq - known;
    for (size_t i = 0; i < count; i++)
        missing -= rows[i].seq > known;
    if (missing > 0 && known < turn->gap)
        turn->gap = known;
}

enum { LOAD_BYTES_FIRST = 1024 * 1024, LOAD_GROWTH = 4 };

/* A load in progress: the rows, up to the arena's limit, and the history made from them. */
struct loading {
    pawl_turn *turn;
    struct pw_history *history;
    struct pw_arena arena;
    struct pawl_error *error;
};

static pawl_status take_events(struct loading *loading, struct pw_event_row *rows, size_t count)
{
    pawl_turn *turn = loading->turn;
    struct pw_history *history = loading->history;
    if (!pw_history_load_events(history, rows, count))
        return pw_error_plain(loading->error, PAWL_NOMEM);
    if (history->event_seq < turn->claim.event_seq)
        history->event_seq = turn->claim.event_seq; /* the events in between were consumed */
    pw_turn_note_gap(turn, history, turn->claim.event_seq, rows, count);
    return PAWL_OK;
}

static pawl_status load_events(struct loading *loading)
{
    const pawl_turn *turn = loading->turn;
    const struct pw_fence *fence = &turn->claim.fence;
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    PAWL_TRY(pw_read_new_events(turn->engine->store, &loading->arena, fence->instance, fence->run,
                                loading->history->event_seq, &rows, &count, loading->error));
    return take_events(loading, rows, count);
}

/* Tells a child the name of its parent. */
static pawl_status take_parent(struct loading *loading)
{
    struct pw_history *history = loading->history;
    struct pw_instance parent;
    if (history->link.parent == 0 || history->link.relation == PW_RELATION_JOB)
        return PAWL_OK;
    pawl_status status = pw_read_instance_by_key(loading->turn->engine->store, &loading->arena, history->link.parent,
                                                 &parent, loading->error);
    if (status == PAWL_OK && (!pw_arena_text(&history->arena, parent.workflow, &history->parent_workflow) ||
                              !pw_arena_text(&history->arena, parent.id, &history->parent_id)))
        status = pw_error_plain(loading->error, PAWL_NOMEM);
    return status == PAWL_INSTANCE_NOT_FOUND ? PAWL_OK : status; /* the parent's row was deleted */
}

static pawl_status take_beginning(struct loading *loading, int64_t created_at_ms, struct pw_text params,
                                  const struct pw_link *link)
{
    struct pw_history *history = loading->history;
    history->created_at_ms = created_at_ms;
    history->link = *link;
    if (!pw_arena_text(&history->arena, params, &history->params))
        return pw_error_plain(loading->error, PAWL_NOMEM);
    return take_parent(loading);
}

static pawl_status take_steps(struct loading *loading, struct pw_step_row *rows, size_t count)
{
    return pw_history_load(loading->history, rows, count) ? PAWL_OK : pw_error_plain(loading->error, PAWL_NOMEM);
}

static pawl_status load_steps(struct loading *loading)
{
    const struct pw_fence *fence = &loading->turn->claim.fence;
    struct pw_history_query query = { .instance = fence->instance, .run = fence->run, .max = SIZE_MAX };
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    PAWL_TRY(pw_read_steps(loading->turn->engine->store, &loading->arena, &query, &rows, &count, loading->error));
    return take_steps(loading, rows, count);
}

static pawl_status load_instance(struct loading *loading)
{
    const struct pw_claim *claim = &loading->turn->claim;
    struct pw_instance instance;
    if (claim->has_instance)
        return take_beginning(loading, claim->created_at_ms, claim->params, &claim->link);
    PAWL_TRY(pw_read_instance_by_key(loading->turn->engine->store, &loading->arena, claim->fence.instance, &instance,
                                     loading->error));
    return take_beginning(loading, instance.created_at_ms, instance.params, &instance.link);
}

/* Reads everything at once, if the store can. */
static pawl_status load_run(struct loading *loading)
{
    const struct pw_claim *claim = &loading->turn->claim;
    struct pw_run_rows rows;
    bool with_events = claim->event_seq > 0;
    PAWL_TRY(pw_read_run(loading->turn->engine->store, &loading->arena, claim->fence.instance, claim->fence.run,
                         with_events, &rows, loading->error));
    PAWL_TRY(take_beginning(loading, rows.created_at_ms, rows.params, &rows.link));
    PAWL_TRY(take_steps(loading, rows.steps, rows.step_count));
    if (with_events)
        PAWL_TRY(take_events(loading, rows.events, rows.event_count));
    return PAWL_OK;
}

/* False for the first turn of a run, unless a restart may have kept steps of the run before. */
static bool has_steps(const pawl_turn *turn)
{
    return !turn->claim.is_first || turn->claim.fence.run > 1;
}

static pawl_status load(struct loading *loading, bool is_warm)
{
    const pawl_turn *turn = loading->turn;
    pawl_status status = PAWL_OK;
    if (!is_warm && !turn->claim.has_instance && has_steps(turn) && pw_ops(turn->engine->store)->reads_runs) {
        status = load_run(loading);
    } else if (!is_warm) {
        status = load_instance(loading);
        if (status == PAWL_OK && has_steps(turn))
            status = load_steps(loading);
    }
    if (status == PAWL_OK && turn->claim.event_seq > loading->history->event_seq)
        status = load_events(loading);
    return status;
}

/* Loads the run if it fits into bytes_max.  *out_is_over: it is larger. */
static pawl_status load_within(pawl_turn *turn, struct pw_history *warm, size_t bytes_max,
                               struct pw_history **out_history, bool *out_is_over, struct pawl_error *error)
{
    struct loading loading = { .turn = turn, .arena.limit = bytes_max, .error = error };
    loading.history = warm != NULL ? warm : pw_history_new();
    pawl_status status = loading.history != NULL ? load(&loading, warm != NULL) : pw_error_plain(error, PAWL_NOMEM);
    *out_is_over = loading.arena.is_over;
    pw_arena_clear(&loading.arena);
    if (status == PAWL_OK)
        *out_history = loading.history;
    else
        pw_history_free(loading.history);
    return status;
}

/* No memory for the run: gives back what it holds, and tells the budget how much is wanted, so that the runner
 * claims no more runs meanwhile. */
static pawl_status refuse_load(pawl_turn *turn, struct pw_history *warm, int64_t wanted, struct pawl_error *error)
{
    struct pw_budget *memory = &turn->engine->memory;
    turn->is_short = true;
    pw_history_free(warm);
    pw_budget_owe(memory, &turn->memory_held, 0);
    pw_budget_want(memory, wanted);
    return pw_error(error, PAWL_NOMEM, "other runs and requests use the whole memory budget");
}

/* A history with refused boundaries must not be dropped, because they are recorded nowhere else. */
bool pw_turn_wants_load(const pawl_turn *turn, bool always_replay)
{
    const struct pw_history *history = turn->history;
    return history == NULL || (always_replay && history->pass >= history->turn_pass && turn->rejections == 0);
}

/* Holds twice the limit, for the rows and for the history made from them, and grows the limit until the run fits. */
pawl_status pw_turn_load(pawl_turn *turn, struct pw_history *warm, struct pawl_error *error)
{
    struct pw_budget *memory = &turn->engine->memory;
    struct pw_history *history = NULL;
    pawl_status status = PAWL_NOMEM;
    bool is_over = true;
    if (turn->history != NULL) { /* loaded before: it has rows by now */
        turn->claim.is_first = false;
        turn->claim.event_seq = turn->history->event_seq;
    }
    for (size_t bytes_max = LOAD_BYTES_FIRST; status == PAWL_NOMEM && is_over; bytes_max *= LOAD_GROWTH) {
        int64_t wanted = (int64_t)bytes_max * 2;
        if (!pw_budget_hold(memory, &turn->memory_held, wanted))
            return refuse_load(turn, warm, wanted, error);
        status = load_within(turn, warm, bytes_max, &history, &is_over, error);
        warm = NULL;
    }
    if (status != PAWL_OK) {
        pw_budget_owe(memory, &turn->memory_held, 0);
        return status;
    }
    pw_budget_owe(memory, &turn->memory_held, (int64_t)pw_history_bytes(history));
    pw_history_begin_turn(history, turn->claim.updated_at_ms);
    pw_lines_forget(turn);
    if (turn->claim.is_first && turn->history == NULL)
        turn->kept_seq = history->seq_last;
    pw_history_free(turn->history);
    turn->history = history;
    return PAWL_OK;
}
