/* ledger.c - see ledger.h. */
#include "ledger.h"

#include <stdio.h>
#include <sys/mman.h>

struct ledger *ledger_new(void)
{
    void *memory = mmap(NULL, sizeof(struct ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void ledger_free(struct ledger *ledger)
{
    if (ledger != NULL)
        (void)munmap(ledger, sizeof *ledger);
}

void ledger_violate(struct ledger *ledger, const char *format, ...)
{
    va_list arguments;
    if (ledger->violation[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(ledger->violation, sizeof ledger->violation, format, arguments);
    va_end(arguments);
}

/* ---- Entries ------------------------------------------------------------------------------------------------------ */

static struct ledger_entry *find(struct ledger *ledger, enum ledger_kind kind, int64_t instance, int64_t run,
                                 const char *name)
{
    for (size_t i = 0; i < ledger->count; i++) {
        struct ledger_entry *entry = &ledger->entries[i];
        if (entry->kind == kind && entry->instance == instance && entry->run == run && strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

static void copy_text(char *to, struct pw_text from)
{
    size_t size = from.size < LEDGER_TEXT - 1 ? from.size : LEDGER_TEXT - 1;
    if (size > 0)
        memcpy(to, from.data, size);
    to[size] = '\0';
}

static struct ledger_entry *add(struct ledger *ledger, enum ledger_kind kind, int64_t instance, int64_t run,
                                struct pw_text name)
{
    struct ledger_entry entry = { .kind = kind, .instance = instance, .run = run, .commit = ledger->commits };
    copy_text(entry.name, name);
    if (find(ledger, kind, instance, run, entry.name) != NULL)
        ledger_violate(ledger, "\"%s\" of instance %lld, run %lld was made durable twice", entry.name,
                       (long long)instance, (long long)run);
    if (ledger->count == LEDGER_MAX) {
        ledger_violate(ledger, "the ledger is full");
        return &ledger->entries[LEDGER_MAX - 1];
    }
    ledger->entries[ledger->count] = entry;
    return &ledger->entries[ledger->count++];
}

void ledger_cut(struct ledger *ledger, size_t count)
{
    if (count < ledger->count)
        ledger->count = count;
}

void ledger_tell(struct ledger *ledger, const char *what)
{
    size_t at = 0;
    while (at < ledger->told_count && strcmp(ledger->told[at], what) < 0)
        at++;
    if (at < ledger->told_count && strcmp(ledger->told[at], what) == 0)
        return;
    if (ledger->told_count == LEDGER_TOLD_MAX) {
        ledger_violate(ledger, "too much is told to fit the ledger");
        return;
    }
    memmove(ledger->told[at + 1], ledger->told[at], (ledger->told_count - at) * LEDGER_TEXT);
    snprintf(ledger->told[at], LEDGER_TEXT, "%s", what);
    ledger->told_count++;
}

void ledger_begin_body(struct ledger *ledger, const char *id, int64_t run, const char *step)
{
    ledger->bodies++;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        if (entry->kind != LEDGER_CREATE || strcmp(entry->name, id) != 0)
            continue;
        const struct ledger_entry *done = find(ledger, LEDGER_STEP, entry->instance, run, step);
        if (done != NULL)
            ledger_violate(ledger, "the body of \"%s\" of %s, run %lld began again after it was durable (%s)", step, id,
                           (long long)run, done->acknowledged ? "acknowledged" : "not acknowledged");
    }
}

/* A step that completed is never put back. */
static void note_waiting(struct ledger *ledger, const struct pw_op_step *op)
{
    char name[LEDGER_TEXT];
    copy_text(name, op->row.name);
    if (find(ledger, LEDGER_STEP, op->instance, op->run, name) != NULL)
        ledger_violate(ledger, "\"%s\" of instance %lld had finished, and waits again", name, (long long)op->instance);
}

void ledger_mend(struct ledger *ledger)
{
    size_t kept = 0;
    ledger->is_mended = true;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];
        if (entry->kind != LEDGER_STEP || entry->status != PAWL_STEP_ERRORED)
            ledger->entries[kept++] = *entry;
    }
    ledger->count = kept;
}

static void note_step(struct ledger *ledger, const struct pw_op_step *op, bool acknowledged)
{
    if (op->row.status == PAWL_STEP_WAITING) {
        note_waiting(ledger, op);
        return;
    }
    struct ledger_entry *entry = add(ledger, LEDGER_STEP, op->instance, op->run, op->row.name);
    entry->status = (int)op->row.status;
    entry->attempts = op->row.attempts;
    entry->updated_at_ms = op->row.updated_at_ms;
    copy_text(entry->result, op->row.result);
    entry->acknowledged = acknowledged;
}

void ledger_note(struct ledger *ledger, const struct pw_unit *unit, bool acknowledged)
{
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind == PW_OP_STEP)
            note_step(ledger, &op->as.step, acknowledged);
        else if (op->kind == PW_OP_CREATE && op->as.create.created)
            add(ledger, LEDGER_CREATE, op->as.create.fence.instance, 0, op->as.create.id)->acknowledged = acknowledged;
        else if (op->kind == PW_OP_EVENT && op->as.event.recorded)
            add(ledger, LEDGER_EVENT, op->as.event.told.instance, op->as.event.told.run, op->as.event.id)
                ->acknowledged = acknowledged;
    }
}
