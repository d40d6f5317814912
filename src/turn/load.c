/* load.c - a run is read from the store, for its next turn: what it began with, its steps, its unread events.
 *
 * How large it is, nobody knows before.  So it is read up to a limit, for which memory is held in the engine's budget first;
 * where there is more, it is read anew with a larger limit.  Nobody waits here: a run for which there is no memory is given
 * back, and holds nothing until it is claimed again. */
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

static pawl_status take_events(pawl_turn *turn, struct pw_history *history, struct pw_event_row *rows, size_t count,
                               struct pawl_error *error)
{
    if (!pw_history_load_events(history, rows, count))
        return pw_error_plain(error, PAWL_NOMEM);
    if (history->event_seq < turn->claim.event_seq)
        history->event_seq = turn->claim.event_seq; /* those in between were taken */
    pw_turn_note_gap(turn, history, turn->claim.event_seq, rows, count);
    return PAWL_OK;
}

enum { LOAD_BYTES_FIRST = 1024 * 1024, LOAD_GROWTH = 4 };

/* How much of a run is read, and whether it has more. */
struct loading {
    size_t bytes_max;
    bool is_over;
};

static pawl_status load_events(pawl_turn *turn, struct pw_history *history, struct loading *loading,
                               struct pawl_error *error)
{
    struct pw_store *store = turn->engine->store;
    const struct pw_fence *fence = &turn->claim.fence;
    struct pw_arena arena = { .limit = loading->bytes_max };
    struct pw_event_row *rows = NULL;
    size_t count = 0;
    pawl_status status =
        pw_read_new_events(store, &arena, fence->instance, fence->run, history->event_seq, &rows, &count, error);
    if (status == PAWL_OK)
        status = take_events(turn, history, rows, count, error);
    loading->is_over |= arena.is_over;
    pw_arena_clear(&arena);
    return status;
}

/* A child is told whose it is. */
static pawl_status take_parent(pawl_turn *turn, struct pw_history *history, struct pawl_error *error)
{
    struct pw_store *store = turn->engine->store;
    struct pw_arena arena = { 0 };
    struct pw_instance parent;
    if (history->link.parent == 0 || history->link.relation == PW_RELATION_JOB)
        return PAWL_OK;
    pawl_status status = pw_read_instance_by_key(store, &arena, history->link.parent, &parent, error);
    if (status == PAWL_OK && (!pw_arena_text(&history->arena, parent.workflow, &history->parent_workflow) ||
                              !pw_arena_text(&history->arena, parent.id, &history->parent_id)))
        status = pw_error_plain(error, PAWL_NOMEM);
    pw_arena_clear(&arena);
    return status == PAWL_INSTANCE_NOT_FOUND ? PAWL_OK : status; /* somebody deleted its row */
}

static pawl_status take_beginning(pawl_turn *turn, struct pw_history *history, int64_t created_at_ms,
                                  struct pw_text params, const struct pw_link *link, struct pawl_error *error)
{
    history->created_at_ms = created_at_ms;
    history->link = *link;
    if (!pw_arena_text(&history->arena, params, &history->params))
        return pw_error_plain(error, PAWL_NOMEM);
    return take_parent(turn, history, error);
}

static pawl_status take_steps(struct pw_history *history, struct pw_step_row *rows, size_t count,
                              struct pawl_error *error)
{
    return pw_history_load(history, rows, count) ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
}

static pawl_status load_steps(pawl_turn *turn, struct pw_history *history, struct loading *loading,
                              struct pawl_error *error)
{
    struct pw_store *store = turn->engine->store;
    struct pw_history_query query = { .instance = turn->claim.fence.instance,
                                      .run = turn->claim.fence.run,
                                      .max = SIZE_MAX };
    struct pw_arena arena = { .limit = loading->bytes_max };
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_steps(store, &arena, &query, &rows, &count, error);
    if (status == PAWL_OK)
        status = take_steps(history, rows, count, error);
    loading->is_over |= arena.is_over;
    pw_arena_clear(&arena);
    return status;
}

static pawl_status load_instance(pawl_turn *turn, struct pw_history *history, struct pawl_error *error)
{
    struct pw_store *store = turn->engine->store;
    struct pw_arena arena = { 0 };
    struct pw_instance instance = { .params = turn->claim.params,
                                    .created_at_ms = turn->claim.created_at_ms,
                                    .link = turn->claim.link };
    pawl_status status = PAWL_OK;
    if (!turn->claim.has_instance)
        status = pw_read_instance_by_key(store, &arena, turn->claim.fence.instance, &instance, error);
    if (status == PAWL_OK)
        status = take_beginning(turn, history, instance.created_at_ms, instance.params, &instance.link, error);
    pw_arena_clear(&arena);
    return status;
}

/* Where the store can tell all of it at once. */
static pawl_status load_run(pawl_turn *turn, struct pw_history *history, struct loading *loading,
                            struct pawl_error *error)
{
    struct pw_store *store = turn->engine->store;
    const struct pw_fence *fence = &turn->claim.fence;
    struct pw_arena arena = { .limit = loading->bytes_max };
    struct pw_run_rows rows;
    bool with_events = turn->claim.event_seq > 0;
    pawl_status status = pw_read_run(store, &arena, fence->instance, fence->run, with_events, &rows, error);
    if (status == PAWL_OK)
        status = take_beginning(turn, history, rows.created_at_ms, rows.params, &rows.link, error);
    if (status == PAWL_OK)
        status = take_steps(history, rows.steps, rows.step_count, error);
    if (status == PAWL_OK && with_events)
        status = take_events(turn, history, rows.events, rows.event_count, error);
    loading->is_over |= arena.is_over;
    pw_arena_clear(&arena);
    return status;
}

/* The first turn of a run finds nothing, but that a restart may have kept steps of the run before. */
static bool has_steps(const pawl_turn *turn)
{
    return !turn->claim.is_first || turn->claim.fence.run > 1;
}

static pawl_status load(pawl_turn *turn, struct pw_history *history, bool is_warm, struct loading *loading,
                        struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    if (!is_warm && !turn->claim.has_instance && has_steps(turn) && pw_ops(turn->engine->store)->reads_runs) {
        status = load_run(turn, history, loading, error);
    } else if (!is_warm) {
        status = load_instance(turn, history, error);
        if (status == PAWL_OK && has_steps(turn))
            status = load_steps(turn, history, loading, error);
    }
    if (status == PAWL_OK && turn->claim.event_seq > history->event_seq)
        status = load_events(turn, history, loading, error);
    return status;
}

static pawl_status load_within(pawl_turn *turn, struct pw_history *warm, struct loading *loading,
                               struct pw_history **out_history, struct pawl_error *error)
{
    struct pw_history *history = warm != NULL ? warm : pw_history_new();
    if (history == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status = load(turn, history, warm != NULL, loading, error);
    if (status == PAWL_OK)
        *out_history = history;
    else
        pw_history_free(history);
    return status;
}

static pawl_status refuse_load(pawl_turn *turn, struct pw_history *warm, int64_t wanted, struct pawl_error *error)
{
    struct pw_budget *memory = &turn->engine->memory;
    turn->is_short = true;
    pw_history_free(warm);
    pw_budget_owe(memory, &turn->memory_held, 0);
    pw_budget_want(memory, wanted);
    return pw_error(error, PAWL_NOMEM, "other runs and requests use all the memory that there is for them");
}

/* Nobody knows how large the run is before it was read.  So it is read up to a limit that is held before, for the rows and
 * for the history that is made of them; if it is larger, it is read anew with a larger limit. */
pawl_status pw_turn_load(pawl_turn *turn, struct pw_history *warm, struct pawl_error *error)
{
    struct pw_budget *memory = &turn->engine->memory;
    struct pw_history *history = NULL;
    struct loading loading = { .bytes_max = LOAD_BYTES_FIRST };
    pawl_status status;
    for (;; loading = (struct loading){ .bytes_max = loading.bytes_max * LOAD_GROWTH }) {
        int64_t wanted = (int64_t)loading.bytes_max * 2;
        if (!pw_budget_hold(memory, &turn->memory_held, wanted))
            return refuse_load(turn, warm, wanted, error);
        status = load_within(turn, warm, &loading, &history, error);
        warm = NULL;
        if (status != PAWL_NOMEM || !loading.is_over)
            break;
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
