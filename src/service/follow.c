/* follow.c - what is new of an instance, change by change.
 *
 * A place is how far one has read: the run, the newest step and log line told, and the steps that were told while they
 * still waited, with their attempts, because those will change.  So what is new costs a few reads by index, however
 * long the history is, and no clock is asked.
 *
 * A mark is a place as text.  It has room for some waiting steps; where there are more, it goes back to before the first
 * that it has no room for, and from there on steps are told again.  Never is one left out.
 *
 * A resume after a repair puts finished steps back, which nobody would look at again.  It writes a log line
 * in the same transaction, whose row is marked (is_repair): who comes to it goes back to the first step. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/rows.h"
#include "service/token.h"
#include "value/value.h"

enum {
    MARKED_OPEN_MAX = 32,
    NUMBER_SIZE = 21, /* the longest 64-bit number, and a dot or colon */
    MARK_SIZE = (6 + 2 * MARKED_OPEN_MAX) * NUMBER_SIZE + 1,
    LOOK_ROWS_MAX = 32,          /* of each kind, because one may be large */
    LOOK_BYTES_MAX = 256 * 1024, /* told in one look, more or less */
};

/* A step that was told while it waited. */
struct open_step {
    int64_t seq, attempts;
};

struct place {
    int64_t run;
    int status, phase; /* as told last; -1: not yet */
    int64_t step_seq, log_seq;
    struct open_step *open; /* in the order of their numbers */
    size_t open_count, open_room;
};

struct pawl_follow {
    pawl_engine *engine;
    int64_t instance;
    struct place place;
};

static void place_begin(struct place *place, int64_t run)
{
    place->run = run;
    place->status = place->phase = -1;
    place->step_seq = place->log_seq = 0;
    place->open_count = 0;
}

static bool place_add_open(struct place *place, int64_t seq, int64_t attempts)
{
    if (place->open_count == place->open_room) {
        size_t room = place->open_room * 2 + 8;
        struct open_step *open = realloc(place->open, room * sizeof *open);
        if (open == NULL)
            return false;
        place->open = open;
        place->open_room = room;
    }
    place->open[place->open_count++] = (struct open_step){ seq, attempts };
    return true;
}

static bool place_copy(const struct place *from, struct place *to)
{
    *to = *from;
    to->open = NULL;
    to->open_count = to->open_room = 0;
    for (size_t i = 0; i < from->open_count; i++) {
        if (!place_add_open(to, from->open[i].seq, from->open[i].attempts))
            return false;
    }
    return true;
}

/* ---- Marks --------------------------------------------------------------------------------------------------- */

/* "instance.run.status.phase.step.log", then ".seq:attempts" for every waiting step. */
static const char *write_mark(pawl_scope *scope, int64_t instance, const struct place *place)
{
    char text[MARK_SIZE];
    size_t marked = place->open_count < MARKED_OPEN_MAX ? place->open_count : MARKED_OPEN_MAX;
    int64_t step_seq = marked < place->open_count ? place->open[marked].seq - 1 : place->step_seq;
    int size = snprintf(text, sizeof text, "%lld.%lld.%d.%d.%lld.%lld", (long long)instance, (long long)place->run,
                        place->status, place->phase, (long long)step_seq, (long long)place->log_seq);
    for (size_t i = 0; i < marked; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, ".%lld:%lld", (long long)place->open[i].seq,
                         (long long)place->open[i].attempts);
    assert((size_t)size < sizeof text);
    return pawl_scope_format(scope, "%s", text);
}

/* Digits up to `end`, which is passed over.  Numbers are what this file has written: none is negative but the -1 of "not
 * told yet". */
static bool read_number(const char **at, char end, int64_t *out_number)
{
    int64_t number;
    const char *from = *at;
    bool is_minus = *from == '-';
    from += is_minus;
    if (!pw_token_number(&from, &number) || (is_minus && number != 1) || (*from != end && *from != '\0'))
        return false;
    *at = *from == '\0' ? from : from + 1;
    *out_number = is_minus ? -1 : number;
    return true;
}

static pawl_status read_open_steps(const char *at, struct place *place)
{
    int64_t before = 0;
    for (size_t count = 0; *at != '\0'; count++) {
        int64_t seq, attempts;
        if (count == MARKED_OPEN_MAX || !read_number(&at, ':', &seq) || !read_number(&at, '.', &attempts))
            return PAWL_INVALID_CURSOR;
        if (seq <= before || seq > place->step_seq || attempts < 0)
            return PAWL_INVALID_CURSOR;
        if (!place_add_open(place, seq, attempts))
            return PAWL_NOMEM;
        before = seq;
    }
    return PAWL_OK;
}

static pawl_status read_mark(const char *mark, const struct pw_instance *row, struct place *place)
{
    const char *at = mark;
    int64_t numbers[6];
    for (size_t i = 0; i < 6; i++) {
        if (!read_number(&at, '.', &numbers[i]))
            return PAWL_INVALID_CURSOR;
    }
    bool is_ours = numbers[0] == row->key && numbers[1] >= 1 && numbers[1] <= row->run && numbers[2] <= PAWL_ERRORED &&
                   numbers[3] <= PAWL_PHASE_ERRORED && numbers[4] >= 0 && numbers[5] >= 0;
    if (!is_ours)
        return PAWL_INVALID_CURSOR;
    place_begin(place, numbers[1]);
    place->status = (int)numbers[2];
    place->phase = (int)numbers[3];
    place->step_seq = numbers[4];
    place->log_seq = numbers[5];
    return read_open_steps(at, place);
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static pawl_status follow_begin(pawl_follow *follow, const struct pw_instance *row, const char *since,
                                struct pawl_error *error)
{
    follow->instance = row->key;
    place_begin(&follow->place, row->run);
    if (since == NULL)
        return PAWL_OK;
    char shown[PW_SHOWN_SIZE];
    pawl_status status = read_mark(since, row, &follow->place);
    if (status == PAWL_INVALID_CURSOR)
        return pw_error(error, status, "\"%s\" is not a mark of instance \"%s\"",
                        pw_check_shown(pw_text_of(since), shown), row->id.data);
    return status == PAWL_OK ? PAWL_OK : pw_error_plain(error, status);
}

pawl_status pawl_follow_open(pawl_engine *engine, const char *workflow, const char *id, const char *since,
                             pawl_follow **out_follow, struct pawl_error *error)
{
    struct pw_definition *definition;
    struct pw_instance row;
    struct pw_arena arena;
    pawl_status status = pw_check_target(engine, workflow, id, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(out_follow, "out_follow", error);
    if (status != PAWL_OK)
        return status;
    pawl_follow *follow = calloc(1, sizeof *follow);
    if (follow == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    follow->engine = engine;
    pw_arena_init(&arena);
    status = pw_rows_read(engine, &arena, definition->name, pw_text_of(id), &row, error);
    if (status == PAWL_OK)
        status = follow_begin(follow, &row, since, error);
    pw_arena_clear(&arena);
    if (status == PAWL_OK)
        *out_follow = follow;
    else
        pawl_follow_close(follow);
    return status;
}

void pawl_follow_close(pawl_follow *follow)
{
    if (follow == NULL)
        return;
    free(follow->place.open);
    free(follow);
}

/* ---- Looking ------------------------------------------------------------------------------------------------- */

/* One look: what was read, and what is told of it. */
struct look {
    struct pw_store *store;
    pawl_scope *scope;
    struct pw_arena arena;
    int64_t instance;
    struct pw_instance row;
    struct place place;          /* moves on with every change that is told */
    struct pw_step_row *changed; /* of the waiting steps */
    size_t changed_count;
    struct pw_step_row *steps; /* new ones */
    size_t step_count;
    struct pw_log_row *logs;
    size_t log_count;
    struct pawl_change *changes;
    size_t change_count;
    size_t told_bytes; /* of payloads and messages */
    bool goes_back;    /* to the first step, with the next look */
    struct pawl_error *error;
};

static struct pw_history_query query_behind(const struct look *look, int64_t seq, size_t max)
{
    return (struct pw_history_query){
        .instance = look->instance, .run = look->place.run, .after_seq = seq, .max = max, .bytes_max = LOOK_BYTES_MAX
    };
}

/* A step that does not wait any more. */
static pawl_status read_ended_step(struct look *look, int64_t seq)
{
    const struct pw_history_query query = query_behind(look, seq - 1, 1);
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    pawl_status status = pw_read_steps(look->store, &look->arena, &query, &rows, &count, look->error);
    if (status == PAWL_OK && count == 1 && rows[0].seq == seq)
        look->changed[look->changed_count++] = rows[0];
    return status;
}

/* Of changed steps; the others come with the next look. */
static bool is_enough(const struct look *look)
{
    size_t bytes = 0;
    for (size_t i = 0; i < look->changed_count; i++)
        bytes += look->changed[i].result.size;
    return look->changed_count == LOOK_ROWS_MAX || bytes >= LOOK_BYTES_MAX;
}

/* Both lists are in the order of their numbers.  One that has ended, or was recorded again, has changed. */
static pawl_status read_changed_steps(struct look *look)
{
    const struct place *place = &look->place;
    struct pw_step_row *waiting = NULL;
    size_t count = 0, at = 0;
    pawl_status status = PAWL_OK;
    look->changed = pw_arena_take(&look->arena, place->open_count * sizeof *look->changed + 1);
    if (look->changed == NULL)
        return PAWL_NOMEM;
    if (place->open_count > 0)
        status =
            pw_read_waiting_steps(look->store, &look->arena, look->instance, place->run, &waiting, &count, look->error);
    for (size_t i = 0; status == PAWL_OK && i < place->open_count && !is_enough(look); i++) {
        const struct open_step *open = &place->open[i];
        while (at < count && waiting[at].seq < open->seq)
            at++;
        if (at == count || waiting[at].seq != open->seq)
            status = read_ended_step(look, open->seq);
        else if (waiting[at].attempts != open->attempts)
            look->changed[look->changed_count++] = waiting[at];
    }
    return status;
}

static pawl_status read_rows(struct look *look)
{
    const struct pw_history_query steps = query_behind(look, look->place.step_seq, LOOK_ROWS_MAX);
    const struct pw_history_query logs = query_behind(look, look->place.log_seq, LOOK_ROWS_MAX);
    pawl_status status = read_changed_steps(look);
    if (status == PAWL_OK)
        status = pw_read_steps(look->store, &look->arena, &steps, &look->steps, &look->step_count, look->error);
    if (status == PAWL_OK)
        status = pw_read_logs(look->store, &look->arena, &logs, &look->logs, &look->log_count, look->error);
    return status;
}

/* ---- Telling ------------------------------------------------------------------------------------------------- */

static struct pawl_change *add_change(struct look *look, enum pawl_change_kind kind)
{
    struct pawl_change *change = &look->changes[look->change_count++];
    *change = (struct pawl_change){ .kind = kind };
    change->mark = write_mark(look->scope, look->instance, &look->place);
    return change->mark != NULL ? change : NULL;
}

static pawl_status tell_step(struct look *look, const struct pw_step_row *row)
{
    struct pawl_step_record *step = pw_scope_take(look->scope, sizeof *step);
    if (step == NULL || pw_rows_step(look->scope, look->place.run, row, step) != PAWL_OK)
        return PAWL_NOMEM;
    look->told_bytes += row->result.size + row->error_message.size;
    struct pawl_change *change = add_change(look, PAWL_CHANGE_STEP);
    if (change == NULL)
        return PAWL_NOMEM;
    change->step = step;
    return PAWL_OK;
}

static pawl_status tell_new_step(struct look *look, const struct pw_step_row *row)
{
    look->place.step_seq = row->seq;
    if (row->status == PAWL_STEP_WAITING && !place_add_open(&look->place, row->seq, row->attempts))
        return PAWL_NOMEM;
    return tell_step(look, row);
}

static pawl_status tell_changed_step(struct look *look, const struct pw_step_row *row)
{
    struct place *place = &look->place;
    size_t at = 0;
    while (place->open[at].seq != row->seq)
        at++;
    place->open[at].attempts = row->attempts;
    if (row->status != PAWL_STEP_WAITING) {
        place->open_count--;
        memmove(&place->open[at], &place->open[at + 1], (place->open_count - at) * sizeof place->open[0]);
    }
    return tell_step(look, row);
}

static pawl_status tell_log(struct look *look, const struct pw_log_row *row)
{
    struct pawl_log_record *log = pw_scope_take(look->scope, sizeof *log);
    if (log == NULL || pw_rows_log(look->scope, look->place.run, row, log) != PAWL_OK)
        return PAWL_NOMEM;
    look->place.log_seq = row->seq;
    if (row->is_repair) {
        look->place.step_seq = 0;
        look->place.open_count = 0;
        look->goes_back = true;
    }
    look->told_bytes += row->message.size + row->data.size;
    struct pawl_change *change = add_change(look, PAWL_CHANGE_LOG);
    if (change == NULL)
        return PAWL_NOMEM;
    change->log = log;
    return PAWL_OK;
}

static pawl_status tell_status(struct look *look)
{
    struct pawl_instance *instance = pw_scope_take(look->scope, sizeof *instance);
    if (instance == NULL || pw_rows_instance(look->scope, &look->row, instance) != PAWL_OK)
        return PAWL_NOMEM;
    if ((int)instance->status == look->place.status && (int)instance->phase == look->place.phase)
        return PAWL_OK;
    look->place.status = (int)instance->status;
    look->place.phase = (int)instance->phase;
    struct pawl_change *change = add_change(look, PAWL_CHANGE_STATUS);
    if (change == NULL)
        return PAWL_NOMEM;
    change->instance = instance;
    return PAWL_OK;
}

/* Log lines go before the step that was recorded with them. */
static pawl_status tell_rows(struct look *look)
{
    size_t changed = 0, step = 0, log = 0;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && look->told_bytes < LOOK_BYTES_MAX && !look->goes_back &&
           (changed < look->changed_count || step < look->step_count || log < look->log_count)) {
        int64_t changed_at = changed < look->changed_count ? look->changed[changed].updated_at_ms : INT64_MAX;
        int64_t step_at = step < look->step_count ? look->steps[step].updated_at_ms : INT64_MAX;
        int64_t log_at = log < look->log_count ? look->logs[log].created_at_ms : INT64_MAX;
        if (log < look->log_count && log_at <= changed_at && log_at <= step_at)
            status = tell_log(look, &look->logs[log++]);
        else if (changed < look->changed_count && (step == look->step_count || changed_at <= step_at))
            status = tell_changed_step(look, &look->changed[changed++]);
        else
            status = tell_new_step(look, &look->steps[step++]);
    }
    return status;
}

static bool is_drained(const struct look *look)
{
    return look->step_count < LOOK_ROWS_MAX && look->log_count < LOOK_ROWS_MAX && look->changed_count < LOOK_ROWS_MAX &&
           look->told_bytes < LOOK_BYTES_MAX && !look->goes_back;
}

/* The instance is read first: what ended a run, or began the next, is then durable, and so is all before it. */
static pawl_status look_at(struct look *look, bool *out_ended)
{
    pawl_status status = pw_read_instance_by_key(look->store, &look->arena, look->instance, &look->row, look->error);
    if (status == PAWL_OK)
        status = read_rows(look);
    while (status == PAWL_OK && look->place.run < look->row.run &&
           look->changed_count + look->step_count + look->log_count == 0) {
        place_begin(&look->place, look->place.run + 1); /* the old run is told; no run is left out */
        status = read_rows(look);
    }
    bool is_current = look->place.run == look->row.run, has_ended = is_current && !look->row.has_task;
    look->changes = pw_scope_take(look->scope, (look->changed_count + look->step_count + look->log_count + 1) *
                                                   sizeof *look->changes);
    if (status == PAWL_OK && look->changes == NULL)
        status = PAWL_NOMEM;
    if (status == PAWL_OK && is_current && !has_ended)
        status = tell_status(look);
    if (status == PAWL_OK)
        status = tell_rows(look);
    if (status == PAWL_OK && has_ended && is_drained(look))
        status = tell_status(look);
    *out_ended = has_ended && is_drained(look);
    return status;
}

pawl_status pawl_follow_next(pawl_follow *follow, pawl_scope *scope, const struct pawl_change **out_changes,
                             size_t *out_count, bool *out_ended, struct pawl_error *error)
{
    if (follow == NULL || scope == NULL || out_changes == NULL || out_count == NULL || out_ended == NULL)
        return pw_error(error, PAWL_INVALID, "pawl_follow_next() needs all of its arguments");
    struct look look = { .store = follow->engine->store, .scope = scope, .error = error };
    bool ended = false;
    look.instance = follow->instance;
    pw_arena_init(&look.arena);
    pawl_status status = place_copy(&follow->place, &look.place) ? look_at(&look, &ended) : PAWL_NOMEM;
    if (status == PAWL_NOMEM)
        (void)pw_error_plain(error, status);
    if (status == PAWL_OK) {
        struct place before = follow->place;
        follow->place = look.place;
        look.place = before;
        *out_changes = look.changes;
        *out_count = look.change_count;
        *out_ended = ended;
    }
    free(look.place.open);
    pw_arena_clear(&look.arena);
    return status;
}
