/* follow.c - reports what is new about an instance, change by change.
 *
 * A *place* is how far a follower has read: the run, the newest step and log line reported, and the steps that still
 * waited when they were reported, with their attempts, because those will change.  So finding what is new costs a
 * few reads by index, however long the history is, and needs no clock.
 *
 * A *mark* is a place as text.  It has room for some waiting steps.  If there are more, the mark goes back to before
 * the first one that does not fit, and the reader sees the steps from there on again.  No step is ever left out.
 *
 * A resume after a repair puts finished steps back, which a follower would not read again.  It writes a log line in
 * the same transaction and marks its row (is_repair).  A follower that reads this line goes back to the first step. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/rows.h"
#include "service/token.h"
#include "service/waits.h"
#include "value/value.h"

enum {
    MARKED_OPEN_MAX = 32,
    NUMBER_SIZE = 21, /* the longest 64-bit number, with a dot or colon */
    MARK_SIZE = (6 + 2 * MARKED_OPEN_MAX) * NUMBER_SIZE + 1,
    LOOK_ROWS_MAX = 32,          /* rows of each kind in one look, because a row may be large */
    LOOK_BYTES_MAX = 256 * 1024, /* approximate bytes reported in one look */
};

/* A step that waited when it was reported. */
struct open_step {
    int64_t seq, attempts;
};

struct place {
    int64_t run;
    int status, phase; /* as last reported; -1: not yet */
    int64_t step_seq, log_seq;
    uint64_t waits;         /* a hash of the waits last reported; 0: not known, because a mark does not keep it */
    struct open_step *open; /* in order of their numbers */
    size_t open_count;
};

struct pawl_follow {
    pawl_engine *engine;
    int64_t instance;
    struct place place;
};

static void place_begin(struct place *place, int64_t run)
{
    *place = (struct place){ .run = run, .status = -1, .phase = -1, .open = place->open };
}

/* The copy has room for the steps that one look may add. */
static bool place_copy(const struct place *from, struct place *to)
{
    *to = *from;
    to->open = malloc((from->open_count + LOOK_ROWS_MAX) * sizeof *to->open);
    if (to->open != NULL)
        memcpy(to->open, from->open, from->open_count * sizeof *to->open);
    return to->open != NULL;
}

/* Moves past a reported step: a new one, or one that waited. */
static void place_pass_step(struct place *place, const struct pw_step_row *row)
{
    struct open_step *open = place->open;
    size_t at = 0, count = place->open_count;
    while (at < count && open[at].seq != row->seq)
        at++;
    if (row->status == PAWL_STEP_WAITING) {
        open[at] = (struct open_step){ row->seq, row->attempts };
        place->open_count += at == count;
    } else if (at < count) {
        memmove(&open[at], &open[at + 1], (count - at - 1) * sizeof *open);
        place->open_count--;
    }
    place->step_seq = row->seq > place->step_seq ? row->seq : place->step_seq;
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

/* Reads a number up to `end` and moves *at past it.  The only negative number that this file writes is -1, for "not
 * reported yet". */
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

static bool read_open_steps(const char *at, struct place *place)
{
    int64_t before = 0;
    for (; *at != '\0'; place->open_count++) {
        struct open_step open;
        if (place->open_count == MARKED_OPEN_MAX || !read_number(&at, ':', &open.seq) ||
            !read_number(&at, '.', &open.attempts) || open.seq <= before || open.seq > place->step_seq ||
            open.attempts < 0)
            return false;
        place->open[place->open_count] = open;
        before = open.seq;
    }
    return true;
}

/* False: it is not a mark of this instance. */
static bool read_mark(const char *mark, const struct pw_instance *row, struct place *place)
{
    const char *at = mark;
    int64_t numbers[6];
    for (size_t i = 0; i < 6; i++) {
        if (!read_number(&at, '.', &numbers[i]))
            return false;
    }
    place->run = numbers[1];
    place->status = (int)numbers[2];
    place->phase = (int)numbers[3];
    place->step_seq = numbers[4];
    place->log_seq = numbers[5];
    return numbers[0] == row->key && numbers[1] >= 1 && numbers[1] <= row->run && numbers[2] <= PAWL_ERRORED &&
           numbers[3] <= PAWL_PHASE_ERRORED && numbers[4] >= 0 && numbers[5] >= 0 && read_open_steps(at, place);
}

/* ---- Opening ------------------------------------------------------------------------------------------------- */

static pawl_status follow_begin(pawl_follow *follow, const struct pw_instance *row, const char *since,
                                struct pawl_error *error)
{
    char shown[PW_SHOWN_SIZE];
    follow->place.open = calloc(MARKED_OPEN_MAX, sizeof *follow->place.open);
    if (follow->place.open == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    follow->instance = row->key;
    place_begin(&follow->place, row->run);
    if (since == NULL || read_mark(since, row, &follow->place))
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID_CURSOR, "\"%s\" is not a mark of instance \"%s\"",
                    pw_check_shown(pw_text_of(since), shown), row->id.data);
}

pawl_status pawl_follow_open(pawl_engine *engine, const char *workflow, const char *id, const char *since,
                             pawl_follow **out_follow, struct pawl_error *error)
{
    struct pw_definition *definition;
    struct pw_instance row;
    struct pw_arena arena = { 0 };
    PAWL_TRY(pw_check_target(engine, workflow, id, &definition, error));
    PAWL_TRY(pw_check_given(out_follow, "out_follow", error));
    pawl_follow *follow = calloc(1, sizeof *follow);
    if (follow == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    follow->engine = engine;
    pawl_status status = pw_rows_read(engine, &arena, definition->name, pw_text_of(id), &row, error);
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

/* One look: what was read, and the changes that it reports. */
struct look {
    struct pw_store *store;
    pawl_scope *scope;
    struct pw_arena arena;
    int64_t instance;
    struct pw_instance row;
    struct place place;                  /* moves on with every reported change */
    struct pw_step_row *changed, *steps; /* those that waited, and new ones */
    struct pw_log_row *logs;
    size_t changed_count, step_count, log_count;
    struct pawl_change *changes;
    size_t change_count;
    size_t told_bytes; /* bytes of payloads and messages */
    bool goes_back;    /* the next look starts again at the first step */
    struct pawl_error *error;
};

static struct pw_history_query query_behind(const struct look *look, int64_t seq, size_t max)
{
    return (struct pw_history_query){
        .instance = look->instance, .run = look->place.run, .after_seq = seq, .max = max, .bytes_max = LOOK_BYTES_MAX
    };
}

/* Reads a step that no longer waits. */
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

/* Reads the steps that waited and have ended or were recorded again.  Both lists are in order of their numbers.
 * What is too much for one look comes with the next. */
static pawl_status read_changed_steps(struct look *look)
{
    const struct place *place = &look->place;
    const struct pw_history_query all = { .instance = look->instance, .run = place->run, .max = SIZE_MAX };
    struct pw_step_row *waiting = NULL;
    size_t count = 0, at = 0, bytes = 0;
    pawl_status status = PAWL_OK;
    look->changed = pw_arena_take(&look->arena, place->open_count * sizeof *look->changed + 1);
    if (look->changed == NULL)
        return PAWL_NOMEM;
    if (place->open_count > 0)
        status = pw_read_waiting_steps(look->store, &look->arena, &all, &waiting, &count, look->error);
    for (size_t i = 0; status == PAWL_OK && i < place->open_count && bytes < LOOK_BYTES_MAX; i++) {
        const struct open_step *open = &place->open[i];
        size_t known = look->changed_count;
        if (known == LOOK_ROWS_MAX)
            break;
        while (at < count && waiting[at].seq < open->seq)
            at++;
        if (at == count || waiting[at].seq != open->seq)
            status = read_ended_step(look, open->seq);
        else if (waiting[at].attempts != open->attempts)
            look->changed[look->changed_count++] = waiting[at];
        bytes += look->changed_count > known ? look->changed[known].result.size : 0;
    }
    return status;
}

static pawl_status read_rows(struct look *look)
{
    const struct pw_history_query steps = query_behind(look, look->place.step_seq, LOOK_ROWS_MAX);
    const struct pw_history_query logs = query_behind(look, look->place.log_seq, LOOK_ROWS_MAX);
    PAWL_TRY(read_changed_steps(look));
    PAWL_TRY(pw_read_steps(look->store, &look->arena, &steps, &look->steps, &look->step_count, look->error));
    return pw_read_logs(look->store, &look->arena, &logs, &look->logs, &look->log_count, look->error);
}

/* ---- Telling ------------------------------------------------------------------------------------------------- */

static pawl_status tell(struct look *look, struct pawl_change change)
{
    change.mark = write_mark(look->scope, look->instance, &look->place);
    look->changes[look->change_count++] = change;
    return change.mark != NULL ? PAWL_OK : PAWL_NOMEM;
}

static pawl_status tell_step(struct look *look, const struct pw_step_row *row)
{
    struct pawl_step_record *step = pw_scope_take(look->scope, sizeof *step);
    if (step == NULL || pw_rows_step(look->scope, look->place.run, row, step) != PAWL_OK)
        return PAWL_NOMEM;
    place_pass_step(&look->place, row);
    look->told_bytes += row->result.size + row->error_message.size;
    return tell(look, (struct pawl_change){ .kind = PAWL_CHANGE_STEP, .step = step });
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
    return tell(look, (struct pawl_change){ .kind = PAWL_CHANGE_LOG, .log = log });
}

/* A hash of what the run waits for; never 0. */
static uint64_t number_of(const struct pw_waits *waits)
{
    uint64_t number = 1;
    for (size_t i = 0; i < waits->count; i++)
        number = number * 31 + pw_hash(pw_text_of(waits->steps[i].name)) + (uint64_t)waits->steps[i].updated_at_ms;
    return number != 0 ? number : 1;
}

/* Reports a changed status, phase or wait.  What the run waits for changes only if a step does. */
static pawl_status tell_status(struct look *look)
{
    struct pawl_instance *instance = pw_scope_take(look->scope, sizeof *instance);
    struct pw_waits waits = { .count = 0 };
    if (instance == NULL || pw_rows_instance(look->scope, &look->row, instance) != PAWL_OK)
        return PAWL_NOMEM;
    bool is_new = (int)instance->status != look->place.status || (int)instance->phase != look->place.phase;
    pawl_status status = PAWL_OK;
    if (is_new || look->changed_count + look->step_count > 0)
        status =
            pw_waits_read(look->store, look->scope, &look->arena, &look->row, PAWL_WAITS_SHOWN, &waits, look->error);
    bool waits_otherwise = waits.top != NULL && number_of(&waits) != look->place.waits;
    if (status != PAWL_OK || (!is_new && !waits_otherwise))
        return status;
    instance->waiting_for = waits.top;
    look->place.waits = number_of(&waits);
    look->place.status = (int)instance->status;
    look->place.phase = (int)instance->phase;
    return tell(look, (struct pawl_change){ .kind = PAWL_CHANGE_STATUS, .instance = instance });
}

static size_t rows_read(const struct look *look)
{
    return look->changed_count + look->step_count + look->log_count;
}

static bool is_full(const struct look *look)
{
    return look->told_bytes >= LOOK_BYTES_MAX || look->goes_back;
}

/* Reports rows in order of their times.  Log lines go before the step that was recorded with them. */
static pawl_status tell_rows(struct look *look)
{
    size_t changed = 0, step = 0, log = 0;
    pawl_status status = PAWL_OK;
    for (size_t left = rows_read(look); status == PAWL_OK && left > 0 && !is_full(look); left--) {
        int64_t changed_at = changed < look->changed_count ? look->changed[changed].updated_at_ms : INT64_MAX;
        int64_t step_at = step < look->step_count ? look->steps[step].updated_at_ms : INT64_MAX;
        int64_t log_at = log < look->log_count ? look->logs[log].created_at_ms : INT64_MAX;
        if (log_at <= changed_at && log_at <= step_at)
            status = tell_log(look, &look->logs[log++]);
        else if (changed_at <= step_at)
            status = tell_step(look, &look->changed[changed++]);
        else
            status = tell_step(look, &look->steps[step++]);
    }
    return status;
}

/* The instance is read first: if it shows that a run has ended or the next has begun, everything before that is
 * durable, and the later reads find it. */
static pawl_status look_at(struct look *look, bool *out_ended)
{
    pawl_status status = pw_read_instance_by_key(look->store, &look->arena, look->instance, &look->row, look->error);
    if (status == PAWL_OK)
        status = read_rows(look);
    while (status == PAWL_OK && look->place.run < look->row.run && rows_read(look) == 0) {
        place_begin(&look->place, look->place.run + 1); /* the old run is reported completely; no run is left out */
        status = read_rows(look);
    }
    if (status != PAWL_OK)
        return status;
    look->changes = pw_scope_take(look->scope, (rows_read(look) + 1) * sizeof *look->changes);
    if (look->changes == NULL)
        return PAWL_NOMEM;
    bool is_current = look->place.run == look->row.run, has_ended = is_current && !look->row.has_task;
    if (is_current && !has_ended)
        status = tell_status(look);
    if (status == PAWL_OK)
        status = tell_rows(look);
    *out_ended = has_ended && !is_full(look) && look->changed_count < LOOK_ROWS_MAX &&
                 look->step_count < LOOK_ROWS_MAX && look->log_count < LOOK_ROWS_MAX;
    return status == PAWL_OK && *out_ended ? tell_status(look) : status;
}

pawl_status pawl_follow_next(pawl_follow *follow, pawl_scope *scope, const struct pawl_change **out_changes,
                             size_t *out_count, bool *out_ended, struct pawl_error *error)
{
    if (follow == NULL || scope == NULL || out_changes == NULL || out_count == NULL || out_ended == NULL)
        return pw_error(error, PAWL_INVALID, "pawl_follow_next() needs all of its arguments");
    struct look look = { .store = follow->engine->store, .scope = scope, .instance = follow->instance, .error = error };
    bool ended = false;
    pawl_status status = place_copy(&follow->place, &look.place) ? look_at(&look, &ended) : PAWL_NOMEM;
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
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}
