/* trace.c - see trace.h. */
#include "testing/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/iso.h"
#include "testing/forward.h"

struct trace_store {
    struct pw_forward forward;
    struct pw_trace *trace;
};

void pw_trace_init(struct pw_trace *trace)
{
    *trace = (struct pw_trace){ .text = NULL };
    pthread_mutex_init(&trace->lock, NULL);
}

void pw_trace_free(struct pw_trace *trace)
{
    free(trace->text);
    pthread_mutex_destroy(&trace->lock);
}

const char *pw_trace_read(struct pw_trace *trace)
{
    pthread_mutex_lock(&trace->lock);
    const char *text = trace->text != NULL ? trace->text : "";
    pthread_mutex_unlock(&trace->lock);
    return text;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* Room for this many bytes and a NUL. */
static bool make_room(struct pw_trace *trace, size_t more)
{
    size_t wanted = trace->size + more + 1;
    if (wanted <= trace->capacity)
        return true;
    size_t capacity = wanted < 4096 ? 4096 : wanted * 2;
    char *text = realloc(trace->text, capacity);
    if (text == NULL)
        return false;
    trace->text = text;
    trace->capacity = capacity;
    return true;
}

static void put_list(struct pw_trace *trace, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size < 0 || trace->line_failed || !make_room(trace, (size_t)size)) {
        trace->line_failed = true;
    } else {
        vsnprintf(trace->text + trace->size, (size_t)size + 1, format, again);
        trace->size += (size_t)size;
    }
    va_end(again);
}

PAWL_PRINTF(2, 3) static void put(struct pw_trace *trace, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    put_list(trace, format, arguments);
    va_end(arguments);
}

/* The author's texts may hold anything; a line stays a line. */
static void put_quoted(struct pw_trace *trace, struct pw_text text)
{
    put(trace, "\"");
    for (size_t i = 0; i < text.size; i++) {
        unsigned char letter = (unsigned char)text.data[i];
        if (letter == '"' || letter == '\\')
            put(trace, "\\%c", letter);
        else if (letter < ' ' || letter == 0x7f)
            put(trace, "\\x%02x", letter);
        else
            put(trace, "%c", letter);
    }
    put(trace, "\"");
}

static void put_time(struct pw_trace *trace, int64_t at_ms)
{
    char text[PW_ISO_SIZE];
    if (at_ms == PW_NOW)
        put(trace, "now");
    else if (pw_iso_time(at_ms, text))
        put(trace, "%s", text);
    else
        put(trace, "%lld ms", (long long)at_ms);
}

static void put_fence(struct pw_trace *trace, const struct pw_fence *fence)
{
    put(trace, "(%lld,%lld,%lld)", (long long)fence->instance, (long long)fence->run, (long long)fence->epoch);
}

static void put_instance(struct pw_trace *trace, struct pw_text workflow, struct pw_text id)
{
    put(trace, " %.*s/%.*s", (int)workflow.size, workflow.data, (int)id.size, id.data);
}

/* ---- Ops in words -------------------------------------------------------------------------------------------- */

static void put_create(struct pw_trace *trace, const struct pw_op_create *create, bool applied)
{
    put(trace, "create");
    put_instance(trace, create->workflow, create->id);
    if (applied && create->created) {
        put(trace, " ");
        put_fence(trace, &create->fence);
    } else if (applied) {
        put(trace, " exists");
    }
}

static void put_step(struct pw_trace *trace, const struct pw_step_row *row)
{
    put(trace, "step ");
    put_quoted(trace, row->name);
    put(trace, " %s", pawl_step_status_name(row->status));
    if (row->status == PAWL_STEP_WAITING && row->next_retry_at_ms != 0) {
        put(trace, " to retry at ");
        put_time(trace, row->next_retry_at_ms);
    } else if (row->status == PAWL_STEP_WAITING && row->wake_at_ms != 0) {
        put(trace, " until ");
        put_time(trace, row->wake_at_ms);
    }
    if (row->status != PAWL_STEP_COMPLETED && row->error_name.data != NULL) {
        put(trace, " with ");
        put_quoted(trace, row->error_name);
    }
}

static void put_event(struct pw_trace *trace, const struct pw_op_event *event, bool applied)
{
    put(trace, event->is_failure ? "failure " : event->is_answer ? "answer " : "event ");
    put_quoted(trace, event->type);
    if (applied && event->is_answer && !event->recorded)
        put(trace, " to nobody");
    else if (applied)
        put(trace, " %lld", (long long)event->seq);
    if (applied && event->woke)
        put(trace, " wakes %lld", (long long)event->told.instance);
}

static const char *demand_name(enum pw_demand demand)
{
    static const char *const words[] = { [PW_DEMAND_NONE] = "nothing",
                                         [PW_DEMAND_INTERRUPT] = "interrupt",
                                         [PW_DEMAND_ROLLBACK] = "rollback",
                                         [PW_DEMAND_TERMINATE] = "terminate" };
    return words[demand];
}

static void put_end(struct pw_trace *trace, const struct pw_op_end *end, bool applied)
{
    put(trace, "end");
    put_instance(trace, end->workflow, end->id);
    if (applied && end->instance == 0)
        put(trace, " has ended");
}

static void put_park(struct pw_trace *trace, const struct pw_op_park *park, bool applied)
{
    static const char *const words[] = {
        [PW_TASK_ACTIVE] = "due", [PW_TASK_WAITING] = "wait until", [PW_TASK_PAUSED] = "pause, due"
    };
    int64_t due_at_ms = applied ? park->due_at_ms_set : park->due_at_ms;
    put(trace, "%s ", words[park->status]);
    if (due_at_ms == 0)
        put(trace, "as before");
    else
        put_time(trace, due_at_ms);
}

static void put_finish(struct pw_trace *trace, const struct pw_op_finish *finish)
{
    static const char *const words[] = { [PW_OUTCOME_OPEN] = "open",
                                         [PW_OUTCOME_COMPLETE] = "complete",
                                         [PW_OUTCOME_TERMINATED] = "terminated",
                                         [PW_OUTCOME_ERRORED] = "errored" };
    put(trace, "finish %s", words[finish->outcome]);
    if (finish->error_name.data != NULL) {
        put(trace, " with ");
        put_quoted(trace, finish->error_name);
    }
}

static void put_claim(struct pw_trace *trace, const struct pw_op_claim *claim)
{
    static const char *const kinds[] = { [PW_TASK_WAKE] = "wake",
                                         [PW_TASK_RETRY] = "retry",
                                         [PW_TASK_RESUME] = "resume",
                                         [PW_TASK_RUN] = "run",
                                         [PW_TASK_REPAIR] = "repair" };
    put(trace, "claim");
    for (size_t i = 0; i < claim->claim_count; i++) {
        const struct pw_claim *claimed = &claim->claims[i];
        put(trace, i > 0 ? ", %s" : " %s", kinds[claimed->kind]);
        put_instance(trace, claimed->workflow, claimed->id);
        put(trace, " ");
        put_fence(trace, &claimed->fence);
    }
}

static void put_renew(struct pw_trace *trace, const struct pw_op_renew *renew)
{
    size_t lost = 0;
    for (size_t i = 0; i < renew->count; i++)
        lost += renew->leases[i].lost;
    put(trace, "renew %zu leases, %zu lost", renew->count, lost);
}

static void put_hook_claim(struct pw_trace *trace, const struct pw_op_hook_claim *claim)
{
    put(trace, "hook claim");
    for (size_t i = 0; i < claim->row_count; i++)
        put(trace, " %s", claim->rows[i].id.data);
}

static void put_hook_settle(struct pw_trace *trace, const struct pw_op_hook_settle *settle)
{
    put(trace, settle->delivered ? "hook delivered" : "hook not delivered ");
    if (!settle->delivered)
        put_quoted(trace, settle->last_error);
}

static void put_reach(struct pw_trace *trace, const struct pw_op_reach *reach)
{
    put(trace, "reach %lld children with %s", (long long)reach->reached, demand_name(reach->demand));
}

static void put_hook_op(struct pw_trace *trace, const struct pw_op *op)
{
    if (op->kind == PW_OP_HOOK_CLAIM)
        put_hook_claim(trace, &op->as.hook_claim);
    else if (op->kind == PW_OP_HOOK_SETTLE)
        put_hook_settle(trace, &op->as.hook_settle);
    else
        put(trace, "hook again %s", op->as.hook_resend.id.data);
}

static void put_op(struct pw_trace *trace, const struct pw_op *op, bool applied)
{
    switch (op->kind) {
    case PW_OP_FENCE:
        put(trace, "fence");
        put_fence(trace, &op->as.fence.at);
        return;
    case PW_OP_CREATE:
        put_create(trace, &op->as.create, applied);
        return;
    case PW_OP_RESTART:
        put(trace, "restart %lld after run %lld", (long long)op->as.restart.instance, (long long)op->as.restart.run);
        return;
    case PW_OP_STEP:
        put_step(trace, &op->as.step.row);
        return;
    case PW_OP_EVENT:
        put_event(trace, &op->as.event, applied);
        return;
    case PW_OP_CONSUME:
        put(trace, "consume event %lld", (long long)op->as.consume.seq);
        return;
    case PW_OP_LOG:
        put(trace, "log");
        return;
    case PW_OP_PARK:
        put_park(trace, &op->as.park, applied);
        return;
    case PW_OP_HOLD:
        put(trace, "hold %lld", (long long)op->as.hold.instance);
        return;
    case PW_OP_PAUSE:
        put(trace, op->as.pause.requested ? "ask for a pause" : "take back the pause");
        return;
    case PW_OP_DEMAND:
        put(trace, "demand %s", demand_name(op->as.demand.demand));
        return;
    case PW_OP_REACH:
        put_reach(trace, &op->as.reach);
        return;
    case PW_OP_END:
        put_end(trace, &op->as.end, applied);
        return;
    case PW_OP_FINISH:
        put_finish(trace, &op->as.finish);
        return;
    case PW_OP_CLAIM:
        put_claim(trace, &op->as.claim);
        return;
    case PW_OP_RENEW:
        put_renew(trace, &op->as.renew);
        return;
    case PW_OP_REAP:
        put(trace, "reap %lld", (long long)op->as.reap.reaped);
        return;
    case PW_OP_SQL:
        put(trace, "sql ");
        put_quoted(trace, op->as.sql.sql);
        return;
    case PW_OP_MUTATE:
        put(trace, "mutate");
        return;
    case PW_OP_HOOK_CLAIM:
    case PW_OP_HOOK_SETTLE:
    case PW_OP_HOOK_RESEND:
        put_hook_op(trace, op);
        return;
    }
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

/* Looked, and found nothing to take. */
static bool did_nothing(const struct pw_op *op, bool applied)
{
    return applied && ((op->kind == PW_OP_REAP && op->as.reap.reaped == 0) ||
                       (op->kind == PW_OP_CLAIM && op->as.claim.claim_count == 0) ||
                       (op->kind == PW_OP_REACH && op->as.reach.reached == 0) ||
                       (op->kind == PW_OP_HOOK_CLAIM && op->as.hook_claim.row_count == 0));
}

static void put_answer(struct pw_trace *trace, pawl_status status, const struct pawl_error *error)
{
    if (status == PAWL_OK) {
        put(trace, " -> ok\n");
        return;
    }
    put(trace, " -> %s ", pawl_status_name(status));
    put_quoted(trace, pw_text_of(error->status == status ? error->text : pawl_status_text(status)));
    put(trace, "\n");
}

/* A line that could not be written wholly is taken back. */
static void end_line(struct pw_trace *trace, size_t start, bool is_wanted)
{
    if (!is_wanted || trace->line_failed)
        trace->size = start;
    else if (trace->text != NULL) /* notes may cut what they quote */
        trace->size = start + pw_text_mend(trace->text + start, trace->size - start);
    if (trace->text != NULL)
        trace->text[trace->size] = '\0';
}

void pw_trace_note(void *user, int64_t now_ms, const char *format, va_list arguments)
{
    struct pw_trace *trace = user;
    pthread_mutex_lock(&trace->lock);
    size_t start = trace->size;
    trace->line_failed = false;
    put_time(trace, now_ms);
    put(trace, " ");
    put_list(trace, format, arguments);
    put(trace, "\n");
    end_line(trace, start, true);
    pthread_mutex_unlock(&trace->lock);
}

/* The deliveries to hooks that the unit recorded. */
static void put_deliveries(struct pw_trace *trace, const struct pw_unit *unit)
{
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        unsigned event = pw_effect_event(effect);
        const struct pw_subscription *told = event != 0 ? unit->subscriptions : NULL;
        for (; told != NULL; told = atomic_load(&told->next))
            if ((told->events & event) != 0)
                put(trace, ", hook %s %s", told->hook.data, pawl_hook_event_name((enum pawl_hook_event)event));
    }
}

static void put_line(struct pw_trace *trace, int64_t now_ms, const struct pw_unit *unit, pawl_status status,
                     const struct pawl_error *error)
{
    size_t start = trace->size;
    const struct pw_op *last = NULL;
    bool applied = status == PAWL_OK;
    trace->line_failed = false;
    put_time(trace, now_ms);
    put(trace, " commit ");
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (did_nothing(op, applied))
            continue;
        if (last != NULL)
            put(trace, last->kind == PW_OP_FENCE ? " " : ", ");
        put_op(trace, op, applied);
        last = op;
    }
    if (applied)
        put_deliveries(trace, unit);
    put_answer(trace, status, error);
    end_line(trace, start, last != NULL);
}

static pawl_status trace_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct trace_store *own = (struct trace_store *)store;
    struct pw_store *inner = own->forward.inner;
    struct pw_trace *trace = own->trace;
    int64_t now_ms = inner->ops->now_ms(inner); /* a world's time stands still meanwhile */
    pawl_status status = inner->ops->apply(inner, units, count, error);
    pthread_mutex_lock(&trace->lock);
    for (size_t i = 0; i < count; i++) {
        bool whole_failed = status != PAWL_OK;
        put_line(trace, now_ms, units[i], whole_failed ? status : units[i]->status,
                 whole_failed ? error : &units[i]->error);
    }
    pthread_mutex_unlock(&trace->lock);
    return status;
}

static void trace_close(struct pw_store *store)
{
    struct trace_store *own = (struct trace_store *)store;
    own->forward.inner->ops->close(own->forward.inner);
    free(own);
}

struct pw_store *pw_trace_wrap(struct pw_store *inner, void *trace)
{
    struct trace_store *own = malloc(sizeof *own);
    if (own == NULL)
        return NULL;
    pw_forward_init(&own->forward, inner);
    own->forward.ops.apply = trace_apply;
    own->forward.ops.close = trace_close;
    own->trace = trace;
    return &own->forward.store;
}
