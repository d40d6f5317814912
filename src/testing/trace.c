/* trace.c - see trace.h.  A line is written into a stream in memory and becomes part of the trace once it is
 * complete.
 *
 * trace_apply() writes one line for each unit after the inner store has answered it.  Each op has a function that
 * shows it, in the table of put_op(). */
#include "testing/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/iso.h"
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

/* ---- Lines --------------------------------------------------------------------------------------------------- */

struct line {
    FILE *file;
    char *text;
    size_t size;
    bool applied; /* the unit was applied, so the results in its ops are valid */
};

static void put_time(const struct line *line, const char *before, int64_t at_ms)
{
    char text[PW_ISO_SIZE] = "now";
    if (at_ms == PW_NOW || pw_iso_time(at_ms, text))
        fprintf(line->file, "%s%s", before, text);
    else
        fprintf(line->file, "%s%lld ms", before, (long long)at_ms);
}

/* Begins a line.  The struct must not move, because the stream points into it. */
static bool begin_line(struct line *line, int64_t now_ms)
{
    *line = (struct line){ .text = NULL };
    line->file = open_memstream(&line->text, &line->size);
    if (line->file != NULL)
        put_time(line, "", now_ms);
    return line->file != NULL;
}

/* Appends the line, or drops it if memory runs out. */
static void end_line(struct pw_trace *trace, struct line *line, bool is_wanted)
{
    bool is_whole = fputc('\n', line->file) != EOF && ferror(line->file) == 0;
    is_whole = fclose(line->file) == 0 && is_whole;
    pthread_mutex_lock(&trace->lock);
    char *text = is_wanted && is_whole ? realloc(trace->text, trace->size + line->size + 1) : NULL;
    if (text != NULL) {
        memcpy(text + trace->size, line->text, line->size);
        trace->text = text;
        trace->size += pw_text_mend(text + trace->size, line->size); /* a note may have cut a quoted text */
        text[trace->size] = '\0';
    }
    pthread_mutex_unlock(&trace->lock);
    free(line->text);
}

void pw_trace_note(void *trace, int64_t now_ms, const char *format, va_list arguments)
{
    struct line line;
    if (!begin_line(&line, now_ms))
        return;
    fputc(' ', line.file);
    vfprintf(line.file, format, arguments);
    end_line(trace, &line, true);
}

/* ---- Ops in words -------------------------------------------------------------------------------------------- */

/* Escapes control characters, so that a text cannot break the line. */
static void put_quoted(const struct line *line, const char *before, struct pw_text text)
{
    fprintf(line->file, "%s\"", before);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char letter = (unsigned char)text.data[i];
        if (letter < ' ' || letter == 0x7f)
            fprintf(line->file, "\\x%02x", letter);
        else
            fprintf(line->file, letter == '"' || letter == '\\' ? "\\%c" : "%c", letter);
    }
    fputc('"', line->file);
}

static void put_fence(const struct line *line, const char *before, const struct pw_fence *fence)
{
    fprintf(line->file, "%s(%lld,%lld,%lld)", before, (long long)fence->instance, (long long)fence->run,
            (long long)fence->epoch);
}

static void put_instance(const struct line *line, const char *before, struct pw_text workflow, struct pw_text id)
{
    fprintf(line->file, "%s %.*s/%.*s", before, (int)workflow.size, workflow.data, (int)id.size, id.data);
}

static const char *demand_name(enum pw_demand demand)
{
    static const char *const words[] = { [PW_DEMAND_NONE] = "nothing",
                                         [PW_DEMAND_INTERRUPT] = "interrupt",
                                         [PW_DEMAND_ROLLBACK] = "rollback",
                                         [PW_DEMAND_TERMINATE] = "terminate" };
    return words[demand];
}

static void put_fenced(const struct line *line, const struct pw_op *op)
{
    put_fence(line, "fence", &op->as.fence.at);
}

static void put_create(const struct line *line, const struct pw_op *op)
{
    const struct pw_op_create *create = &op->as.create;
    put_instance(line, "create", create->workflow, create->id);
    if (line->applied && create->created)
        put_fence(line, " ", &create->fence);
    else if (line->applied)
        fputs(" exists", line->file);
}

static void put_reached(const struct line *line, const struct pw_reach *reach)
{
    if (reach->reached > 0)
        fprintf(line->file, ", reach %lld children with %s", (long long)reach->reached, demand_name(reach->demand));
}

static void put_restart(const struct line *line, const struct pw_op *op)
{
    fprintf(line->file, "restart %lld after run %lld", (long long)op->as.restart.instance,
            (long long)op->as.restart.run);
    put_reached(line, &op->as.restart.reach);
}

static void put_step(const struct line *line, const struct pw_op *op)
{
    const struct pw_step_row *row = &op->as.step.row;
    put_quoted(line, "step ", row->name);
    fprintf(line->file, " %s", pawl_step_status_name(row->status));
    if (row->status == PAWL_STEP_WAITING && row->next_retry_at_ms != 0)
        put_time(line, " to retry at ", row->next_retry_at_ms);
    else if (row->status == PAWL_STEP_WAITING && row->wake_at_ms != 0)
        put_time(line, " until ", row->wake_at_ms);
    if (row->status != PAWL_STEP_COMPLETED && row->error_name.data != NULL)
        put_quoted(line, " with ", row->error_name);
}

static void put_told(const struct line *line, const struct pw_op_event *event)
{
    put_quoted(line, event->is_failure ? "failure " : event->is_answer ? "answer " : "event ", event->type);
    if (line->applied && event->is_answer && !event->recorded)
        fputs(" to nobody", line->file);
    else if (line->applied)
        fprintf(line->file, " %lld", (long long)event->seq);
    if (line->applied && event->woke)
        fprintf(line->file, " wakes %lld", (long long)event->told.instance);
}

static void put_event(const struct line *line, const struct pw_op *op)
{
    put_told(line, &op->as.event);
}

static void put_consume(const struct line *line, const struct pw_op *op)
{
    fprintf(line->file, "consume event %lld", (long long)op->as.consume.seq);
}

static void put_park(const struct line *line, const struct pw_op *op)
{
    static const char *const words[] = {
        [PW_TASK_ACTIVE] = "due ", [PW_TASK_WAITING] = "wait until ", [PW_TASK_PAUSED] = "pause, due "
    };
    const struct pw_op_park *park = &op->as.park;
    int64_t due_at_ms = line->applied ? park->due_at_ms_set : park->due_at_ms;
    if (due_at_ms == 0)
        fprintf(line->file, "%sas before", words[park->status]);
    else
        put_time(line, words[park->status], due_at_ms);
}

static void put_hold(const struct line *line, const struct pw_op *op)
{
    fprintf(line->file, "hold %lld", (long long)op->as.hold.instance);
}

static void put_control(const struct line *line, const struct pw_op *op)
{
    static const char *const words[] = { [PAWL_CONTROL_PAUSE] = "pause",
                                         [PAWL_CONTROL_RESUME] = "resume",
                                         [PAWL_CONTROL_TERMINATE] = "terminate",
                                         [PAWL_CONTROL_INTERRUPT] = "interrupt",
                                         [PAWL_CONTROL_ROLLBACK] = "roll back" };
    put_instance(line, words[op->as.control.what], op->as.control.workflow, op->as.control.id);
    if (line->applied && !op->as.control.is_done)
        fputs(" is so already", line->file);
    put_reached(line, &op->as.control.finish.reach);
}

static void put_demand(const struct line *line, const struct pw_op *op)
{
    fprintf(line->file, "demand %s", demand_name(op->as.demand.demand));
}

static void put_end(const struct line *line, const struct pw_op *op)
{
    put_instance(line, "end", op->as.end.workflow, op->as.end.id);
    if (line->applied && op->as.end.instance == 0)
        fputs(" has ended", line->file);
}

static void put_finish(const struct line *line, const struct pw_op *op)
{
    static const char *const words[] = { [PW_OUTCOME_OPEN] = "open",
                                         [PW_OUTCOME_COMPLETE] = "complete",
                                         [PW_OUTCOME_TERMINATED] = "terminated",
                                         [PW_OUTCOME_ERRORED] = "errored" };
    fprintf(line->file, "finish %s", words[op->as.finish.outcome]);
    if (op->as.finish.error_name.data != NULL)
        put_quoted(line, " with ", op->as.finish.error_name);
    put_reached(line, &op->as.finish.reach);
    if (op->as.finish.answer != NULL && op->as.finish.answer->instance != 0) {
        fputs(", ", line->file);
        put_told(line, op->as.finish.answer);
    }
}

static void put_claim(const struct line *line, const struct pw_op *op)
{
    static const char *const kinds[] = { [PW_TASK_WAKE] = " wake",
                                         [PW_TASK_RETRY] = " retry",
                                         [PW_TASK_RESUME] = " resume",
                                         [PW_TASK_RUN] = " run",
                                         [PW_TASK_REPAIR] = " repair" };
    fputs("claim", line->file);
    for (size_t i = 0; i < op->as.claim.claim_count; i++) {
        const struct pw_claim *claimed = &op->as.claim.claims[i];
        fputs(i > 0 ? "," : "", line->file);
        put_instance(line, kinds[claimed->kind], claimed->workflow, claimed->id);
        put_fence(line, " ", &claimed->fence);
    }
}

static void put_renew(const struct line *line, const struct pw_op *op)
{
    const struct pw_op_renew *renew = &op->as.renew;
    size_t lost = 0;
    for (size_t i = 0; i < renew->count; i++)
        lost += renew->leases[i].lost;
    fprintf(line->file, "renew %zu leases, %zu lost", renew->count, lost);
}

static void put_reap(const struct line *line, const struct pw_op *op)
{
    fprintf(line->file, "reap %lld", (long long)op->as.reap.reaped);
}

static void put_sql(const struct line *line, const struct pw_op *op)
{
    put_quoted(line, "sql ", op->as.sql.sql);
}

static void put_hook_claim(const struct line *line, const struct pw_op *op)
{
    fputs("hook claim", line->file);
    for (size_t i = 0; i < op->as.hook_claim.row_count; i++)
        fprintf(line->file, " %s", op->as.hook_claim.rows[i].id.data);
}

static void put_hook_settle(const struct line *line, const struct pw_op *op)
{
    if (op->as.hook_settle.delivered)
        fputs("hook delivered", line->file);
    else
        put_quoted(line, "hook not delivered ", op->as.hook_settle.last_error);
}

static void put_hook_resend(const struct line *line, const struct pw_op *op)
{
    fprintf(line->file, "hook again %s", op->as.hook_resend.id.data);
}

/* An op that is not listed here is shown by its word alone. */
static void put_op(const struct line *line, const struct pw_op *op)
{
#define OP_WORD(KIND, member, how) #member,
    static const char *const words[] = { PW_OP_LIST(OP_WORD) };
#undef OP_WORD
    static void (*const put[sizeof words / sizeof words[0]])(const struct line *line, const struct pw_op *op) = {
        [PW_OP_FENCE] = put_fenced,
        [PW_OP_CREATE] = put_create,
        [PW_OP_RESTART] = put_restart,
        [PW_OP_STEP] = put_step,
        [PW_OP_EVENT] = put_event,
        [PW_OP_CONSUME] = put_consume,
        [PW_OP_PARK] = put_park,
        [PW_OP_HOLD] = put_hold,
        [PW_OP_CONTROL] = put_control,
        [PW_OP_DEMAND] = put_demand,
        [PW_OP_FINISH] = put_finish,
        [PW_OP_END] = put_end,
        [PW_OP_CLAIM] = put_claim,
        [PW_OP_RENEW] = put_renew,
        [PW_OP_REAP] = put_reap,
        [PW_OP_SQL] = put_sql,
        [PW_OP_HOOK_CLAIM] = put_hook_claim,
        [PW_OP_HOOK_SETTLE] = put_hook_settle,
        [PW_OP_HOOK_RESEND] = put_hook_resend,
    };
    if (put[op->kind] != NULL)
        put[op->kind](line, op);
    else
        fputs(words[op->kind], line->file);
}

/* True if the op looked for something to take and found nothing. */
static bool did_nothing(const struct line *line, const struct pw_op *op)
{
    return line->applied && ((op->kind == PW_OP_REAP && op->as.reap.reaped == 0) ||
                             (op->kind == PW_OP_CLAIM && op->as.claim.claim_count == 0) ||
                             (op->kind == PW_OP_HOOK_CLAIM && op->as.hook_claim.row_count == 0));
}

/* The deliveries to hooks that the unit recorded. */
static void put_deliveries(const struct line *line, const struct pw_unit *unit)
{
    for (const struct pw_effect *effect = unit->effects; effect != NULL; effect = effect->next) {
        unsigned event = pw_effect_event(effect);
        const struct pw_subscription *told = event != 0 ? unit->subscriptions : NULL;
        for (; told != NULL; told = atomic_load(&told->next))
            if ((told->events & event) != 0)
                fprintf(line->file, ", hook %s %s", told->hook.data, pawl_hook_event_name((enum pawl_hook_event)event));
    }
}

/* Writes the line of a unit.  A unit whose ops all found nothing to do leaves no line. */
static void trace_unit(struct pw_trace *trace, int64_t now_ms, const struct pw_unit *unit, pawl_status status,
                       const struct pawl_error *error)
{
    struct line line;
    const struct pw_op *last = NULL;
    if (!begin_line(&line, now_ms))
        return;
    line.applied = status == PAWL_OK;
    fputs(" commit ", line.file);
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (did_nothing(&line, op))
            continue;
        if (last != NULL)
            fputs(last->kind == PW_OP_FENCE ? " " : ", ", line.file);
        put_op(&line, op);
        last = op;
    }
    if (line.applied)
        put_deliveries(&line, unit);
    fprintf(line.file, " -> %s", line.applied ? "ok" : pawl_status_name(status));
    if (!line.applied)
        put_quoted(&line, " ", pw_text_of(error->status == status ? error->text : pawl_status_text(status)));
    end_line(trace, &line, last != NULL);
}

/* ---- The store ----------------------------------------------------------------------------------------------- */

static pawl_status trace_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct trace_store *own = (struct trace_store *)store;
    struct pw_store *inner = own->forward.inner;
    int64_t now_ms = inner->ops->now_ms(inner); /* a world's time stands still during the call */
    pawl_status status = inner->ops->apply(inner, units, count, error);
    for (size_t i = 0; i < count; i++) {
        bool whole_failed = status != PAWL_OK;
        trace_unit(own->trace, now_ms, units[i], whole_failed ? status : units[i]->status,
                   whole_failed ? error : &units[i]->error);
    }
    return status;
}

struct pw_store *pw_trace_wrap(struct pw_store *inner, void *trace)
{
    struct trace_store *own = pw_forward_new(inner, sizeof *own);
    if (own == NULL)
        return NULL;
    own->forward.ops.apply = trace_apply;
    own->trace = trace;
    return &own->forward.store;
}
