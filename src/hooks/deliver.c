/* deliver.c - claims, calls and settles deliveries, one after the other: see hooks.h.
 *
 * pw_errand_exchange() settles the errand that is held and claims the next one, in one unit.  pw_errand_call() calls
 * the hook, outside of any transaction.  Couriers and ticks alternate between the two. */
#include <limits.h>

#include "base/error.h"
#include "base/limits.h"
#include "history/retry.h"
#include "hooks/hooks.h"
#include "service/check.h"
#include "service/request.h"

enum { TICK_MAX_DEFAULT = 100 };

void pw_errand_clear(struct pw_errand *errand)
{
    if (errand->hook != NULL)
        atomic_fetch_sub(&errand->hook->under_way, 1);
    pw_arena_clear(&errand->arena);
    *errand = (struct pw_errand){ .hook = NULL };
}

/* ---- Claiming and settling ----------------------------------------------------------------------------------- */

/* The hooks that this engine delivers and that have fewer than `limit` running deliveries, in the arena.  NULL when
 * memory runs out. */
static struct pw_hook_wanted *wanted_of(const struct pw_hooks *hooks, int limit, struct pw_arena *arena,
                                        size_t *out_count)
{
    size_t most = 1, count = 0;
    for (const struct pw_hook *hook = pw_hooks_first(hooks); hook != NULL; hook = pw_hook_next(hook))
        most++;
    struct pw_hook_wanted *wanted = pw_arena_take(arena, most * sizeof *wanted);
    const struct pw_hook *hook = wanted != NULL ? pw_hooks_first(hooks) : NULL;
    for (; hook != NULL && count < most; hook = pw_hook_next(hook)) {
        if (hook->deliver != NULL && atomic_load(&hook->under_way) < limit)
            wanted[count++] = (struct pw_hook_wanted){ hook->asks.hook, hook->lease_ms };
    }
    *out_count = count;
    return wanted;
}

static bool add_settle(struct pw_unit *unit, const struct pw_errand *errand)
{
    struct pw_op *op = pw_unit_add(unit, PW_OP_HOOK_SETTLE);
    if (op == NULL)
        return false;
    op->as.hook_settle = (struct pw_op_hook_settle){ .key = errand->row.key,
                                                     .epoch = errand->row.epoch,
                                                     .delivered = errand->delivered,
                                                     .untried = errand->untried,
                                                     .next_at_ms = errand->next_at_ms,
                                                     .last_error = pw_text_of(errand->failure.text) };
    return true;
}

/* Adds a claim.  *out_claim stays NULL if there is no hook to deliver. */
static bool add_claim(struct pw_unit *unit, const struct pw_hooks *hooks, int most, struct pw_op **out_claim)
{
    size_t count;
    const struct pw_hook_wanted *wanted = wanted_of(hooks, most, &unit->arena, &count);
    if (wanted == NULL || count == 0)
        return wanted != NULL;
    struct pw_op *op = pw_unit_add(unit, PW_OP_HOOK_CLAIM);
    if (op == NULL)
        return false;
    op->as.hook_claim = (struct pw_op_hook_claim){ .wanted = wanted, .wanted_count = count, .max = 1 };
    *out_claim = op;
    return true;
}

/* Takes over the unit's memory, which holds what was claimed. */
static void take_over(struct pw_errand *errand, struct pw_unit *unit, const struct pw_op *claim,
                      const struct pw_hooks *hooks)
{
    pw_errand_clear(errand);
    errand->arena = unit->arena;
    if (claim == NULL || claim->as.hook_claim.row_count == 0)
        return;
    errand->row = claim->as.hook_claim.rows[0];
    errand->hook = pw_hooks_find(hooks, errand->row.hook);
    if (errand->hook == NULL)
        return;
    atomic_fetch_add(&errand->hook->under_way, 1);
    errand->leased_until_ms = unit->begun_ms + errand->hook->lease_ms;
}

pawl_status pw_errand_exchange(pawl_engine *engine, struct pw_errand *errand, int most, struct pawl_error *error)
{
    const struct pw_hooks *hooks = &engine->hooks;
    struct pw_unit unit;
    struct pw_op *claim = NULL;
    pw_unit_init(&unit);
    bool claims = most > 0 && !pw_schema_is_newer(&engine->schema);
    bool complete =
        (errand->hook == NULL || add_settle(&unit, errand)) && (!claims || add_claim(&unit, hooks, most, &claim));
    pawl_status status = PAWL_NOMEM;
    if (complete)
        status = unit.first != NULL ? pw_engine_run(engine, &unit) : PAWL_OK;
    if (status == PAWL_OK) {
        take_over(errand, &unit, claim, hooks);
        return PAWL_OK;
    }
    status = pw_report(error, status, &unit.error);
    pw_unit_clear(&unit);
    return status;
}

/* ---- Calling ------------------------------------------------------------------------------------------------- */

/* The time of the attempt after one that failed or was not made; 0: there is none. */
static int64_t next_attempt_at(pawl_engine *engine, const struct pw_errand *errand, pawl_status status)
{
    struct pawl_policy policy = { .delay_ms = errand->hook->delay_ms, .backoff = PAWL_BACKOFF_EXPONENTIAL };
    if (errand->came_late)
        policy.delay_ms = 0;
    else if (errand->untried)
        policy.backoff = PAWL_BACKOFF_CONSTANT;
    else if (status == PAWL_NON_RETRYABLE || errand->row.attempts >= errand->row.attempts_max)
        return 0;
    return pw_time_after(pawl_now_ms(engine), pw_retry_delay_ms(&policy, errand->row.attempts));
}

/* Keeps the hook's error text, made fit to be stored and shown. */
static void note_failure(struct pw_errand *errand, pawl_status status, struct pawl_error *said)
{
    said->text[sizeof said->text - 1] = '\0';
    struct pw_text text = pw_text_cut(pw_text_of(said->text), sizeof said->text - 1);
    (void)pw_error(&errand->failure, status, "%.*s", (int)text.size, text.data);
    if (text.size == 0)
        (void)pw_error_plain(&errand->failure, status);
}

/* True if the lease holds by both clocks (H3): this process may have been stopped, and other processes use the
 * store's time, which may have jumped. */
static bool is_leased(pawl_engine *engine, const struct pw_errand *errand)
{
    return pawl_now_ms(engine) < errand->row.locked_until_ms &&
           errand->leased_until_ms - pw_engine_monotonic_ms(engine) >= errand->hook->lease_ms / 3;
}

void pw_errand_call(pawl_engine *engine, struct pw_errand *errand)
{
    struct pawl_error error = { PAWL_OK, "" };
    struct pawl_delivery delivery;
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = scope != NULL ? pw_delivery_of_row(scope, &errand->row, &delivery) : PAWL_NOMEM;
    errand->came_late = status == PAWL_OK && !is_leased(engine, errand);
    errand->untried = status == PAWL_NOMEM || errand->came_late;
    if (errand->came_late)
        status = pw_error(&error, PAWL_BUSY, "its lease may have ended before the hook was called");
    if (status == PAWL_OK)
        status = errand->hook->deliver(&delivery, errand->hook->user, &error);
    errand->delivered = status == PAWL_OK;
    if (status != PAWL_OK) {
        note_failure(errand, status, &error);
        errand->next_at_ms = next_attempt_at(engine, errand, status);
    }
    pawl_scope_free(scope);
}

/* ---- Ticks --------------------------------------------------------------------------------------------------- */

pawl_status pw_errand_next_at(pawl_engine *engine, int most, int64_t *out_at_ms, struct pawl_error *error)
{
    struct pw_arena arena = { 0 };
    size_t count = 0;
    const struct pw_hook_wanted *wanted = wanted_of(&engine->hooks, most, &arena, &count);
    struct pw_text *names = wanted != NULL ? pw_arena_take(&arena, (count + 1) * sizeof *names) : NULL;
    for (size_t i = 0; names != NULL && i < count; i++)
        names[i] = wanted[i].hook;
    const struct pw_read asked = { .kind = PW_READ_NEXT_HOOK, .names = { .names = names, .count = count } };
    struct pw_found found;
    pawl_status status =
        names != NULL ? pw_read(engine->store, &asked, NULL, &found, error) : pw_error_plain(error, PAWL_NOMEM);
    if (status == PAWL_OK)
        *out_at_ms = found.at_ms;
    pw_arena_clear(&arena);
    return status;
}

/* Delivers what is due, at most `max` attempts.  Stops when memory runs out, because the next attempt would meet the
 * same. */
static pawl_status deliver_due(pawl_engine *engine, int64_t max, int64_t *delivered, struct pawl_error *error)
{
    struct pw_errand errand = { .hook = NULL };
    int64_t attempts = 0;
    bool out_of_memory = false;
    pawl_status status = pw_errand_exchange(engine, &errand, INT_MAX, error);
    while (status == PAWL_OK && errand.hook != NULL) {
        pw_errand_call(engine, &errand);
        *delivered += errand.delivered;
        out_of_memory = errand.untried && !errand.came_late;
        status = pw_errand_exchange(engine, &errand, ++attempts < max && !out_of_memory ? INT_MAX : 0, error);
    }
    pw_errand_clear(&errand);
    return status == PAWL_OK && out_of_memory ? pw_error_plain(error, PAWL_NOMEM) : status;
}

pawl_status pawl_hooks_tick(pawl_engine *engine, int64_t max, int64_t *out_delivered, int64_t *out_next_at_ms,
                            struct pawl_error *error)
{
    int64_t delivered = 0, next_at_ms = INT64_MAX;
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK && max < 0)
        status = pw_error(error, PAWL_INVALID, "max is %lld; it is 1 or more, or 0 for 100", (long long)max);
    if (status == PAWL_OK)
        status = pawl_check_schema(engine, error);
    if (status == PAWL_OK)
        status = pw_errand_next_at(engine, INT_MAX, &next_at_ms, error);
    if (status == PAWL_OK && next_at_ms <= pawl_now_ms(engine)) {
        status = deliver_due(engine, max != 0 ? max : TICK_MAX_DEFAULT, &delivered, error);
        if (status == PAWL_OK)
            status = pw_errand_next_at(engine, INT_MAX, &next_at_ms, error);
    }
    if (status != PAWL_OK)
        return status;
    if (out_delivered != NULL)
        *out_delivered = delivered;
    if (out_next_at_ms != NULL)
        *out_next_at_ms = next_at_ms;
    return PAWL_OK;
}
