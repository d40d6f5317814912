/* test_core_hooks.c - every op on deliveries to hooks against every state of one, with no store: as test_core.c for tasks.
 *
 * The table says what changes, field by field; "same" is a row that stays as it is.  Behind it stands what the op answers: what
 * a claim gave out, whether a settling was lost, whether there was something to send again. */
#include "core_fixture.h"
#include "kit/test.h"

enum { DELIVERY = 31, ATTEMPTS = 2, ATTEMPTS_MAX = 3 };

enum which {
    CLAIM,
    CLAIM_NOTHING,
    CLAIM_OF_ANOTHER,
    DELIVERED,
    FAILED_ONCE,
    FAILED_FOR_GOOD,
    NOT_TRIED,
    SETTLED_TOO_LATE,
    RESEND,
    RESEND_ANOTHER,
    OPS
};

/* GONE: there is none.  TRIED: an attempt is under way.  LEASE_OVER: one was, and its lease is over.  LAST: so it is, and no
 * attempt is left.  ORPHANED: due, but its instance is gone.  FAILED: for good. */
enum standing { GONE, PENDING, LATER, TRIED, LEASE_OVER, LAST, ORPHANED, FAILED, STANDINGS };

static struct pw_op op_of(enum which which)
{
    static const struct pw_hook_wanted wanted[] = { { { "mail", 4 }, LEASE_MS }, { { "call", 4 }, LEASE_MS } };
    switch (which) {
    case CLAIM:
        return OP(HOOK_CLAIM, hook_claim, .wanted = wanted, .wanted_count = 2, .max = 1);
    case CLAIM_NOTHING:
        return OP(HOOK_CLAIM, hook_claim, .wanted = wanted, .wanted_count = 2, .max = 0);
    case CLAIM_OF_ANOTHER:
        return OP(HOOK_CLAIM, hook_claim, .wanted = &wanted[1], .wanted_count = 1, .max = 1);
    case DELIVERED:
        return OP(HOOK_SETTLE, hook_settle, .key = DELIVERY, .epoch = EPOCH, .delivered = true);
    case FAILED_ONCE:
        return OP(HOOK_SETTLE, hook_settle, .key = DELIVERY, .epoch = EPOCH, .next_at_ms = LATER_MS,
                  .last_error = text("busy"));
    case FAILED_FOR_GOOD:
        return OP(HOOK_SETTLE, hook_settle, .key = DELIVERY, .epoch = EPOCH, .last_error = text("busy"));
    case NOT_TRIED:
        return OP(HOOK_SETTLE, hook_settle, .key = DELIVERY, .epoch = EPOCH, .untried = true, .next_at_ms = NOW_MS,
                  .last_error = text("busy"));
    case SETTLED_TOO_LATE:
        return OP(HOOK_SETTLE, hook_settle, .key = DELIVERY, .epoch = EPOCH - 1, .delivered = true);
    case RESEND:
        return OP(HOOK_RESEND, hook_resend, .id = text("d"));
    case RESEND_ANOTHER:
        return OP(HOOK_RESEND, hook_resend, .id = text("e"));
    case OPS:
        break;
    }
    fail_msg("no such op");
    return (struct pw_op){ .kind = PW_OP_FENCE };
}

static struct pw_hook_row row_of(enum standing state)
{
    struct pw_hook_row row = { .key = DELIVERY, .epoch = EPOCH, .attempts = ATTEMPTS, .attempts_max = ATTEMPTS_MAX };
    row.id = text("d");
    row.hook = text("mail");
    row.workflow = state == ORPHANED ? (struct pw_text){ NULL, 0 } : text("w");
    row.last_error = text("before");
    row.next_at_ms = state == LATER || state == TRIED ? LATER_MS : state == FAILED ? 0 : DUE_MS;
    row.locked_until_ms = state == TRIED || state == LEASE_OVER || state == LAST ? row.next_at_ms : 0;
    if (state == LAST)
        row.attempts = ATTEMPTS_MAX;
    return row;
}

/* ---- The store's part --------------------------------------------------------------------------------------------------- */

/* Whatever there is: what becomes of it is for the rules to say (R8). */
static pawl_status find_all(struct pw_core *core, struct pw_op_hook_claim *op)
{
    struct pw_rows found = core->deliveries.list;
    return pw_core_claim_hooks(core, op, &found);
}

/* ---- Differences -------------------------------------------------------------------------------------------------------- */

PAWL_PRINTF(2, 3) static void say(char *words, const char *format, ...)
{
    va_list arguments;
    size_t size = strlen(words);
    va_start(arguments, format);
    (void)vsnprintf(words + size, 128 - size, format, arguments);
    va_end(arguments);
}

static void say_time(char *words, const char *name, int64_t before_ms, int64_t after_ms)
{
    if (before_ms != after_ms && after_ms == NOW_MS + LEASE_MS)
        say(words, "%s:lease ", name);
    else if (before_ms != after_ms && after_ms == NOW_MS)
        say(words, "%s:now ", name);
    else if (before_ms != after_ms)
        say(words, "%s:%d ", name, (int)after_ms);
}

static void say_row(char *words, const struct pw_hook_row *before, const struct pw_core_delivery *after)
{
    if (!after->exists) {
        say(words, after->is_changed ? "deleted " : "same ");
        return;
    }
    if (before->attempts != after->row.attempts)
        say(words, "attempts:%+d ", (int)(after->row.attempts - before->attempts));
    if (before->epoch != after->row.epoch)
        say(words, "epoch:%+d ", (int)(after->row.epoch - before->epoch));
    say_time(words, "next", before->next_at_ms, after->row.next_at_ms);
    say_time(words, "until", before->locked_until_ms, after->row.locked_until_ms);
    if (!pw_text_equal(before->last_error, after->row.last_error))
        say(words, "error ");
    if (words[0] == '\0')
        say(words, "same ");
    assert_int_equal(after->is_changed, strcmp(words, "same ") != 0);
}

static void say_answer(char *words, const struct pw_op *op, const struct pw_core_delivery *after)
{
    if (op->kind == PW_OP_HOOK_CLAIM) {
        say(words, op->as.hook_claim.row_count > 0 ? "given" : "none");
        for (size_t i = 0; i < op->as.hook_claim.row_count; i++) {
            assert_int_equal(op->as.hook_claim.rows[i].epoch, after->row.epoch);
            assert_int_equal(op->as.hook_claim.rows[i].attempts, after->row.attempts);
            assert_true(pw_text_equal(op->as.hook_claim.rows[i].id, text("d")));
        }
    } else if (op->kind == PW_OP_HOOK_SETTLE) {
        say(words, op->as.hook_settle.lost ? "lost" : "kept");
    } else {
        say(words, op->as.hook_resend.found ? "found" : "unknown");
    }
}

static void play(enum which which, enum standing state, char *words)
{
    static const struct pw_frame finding = { .write = write_nothing, .claim_hooks = find_all };
    struct pawl_error error = { PAWL_OK, "" };
    const struct pw_hook_row before = row_of(state);
    struct pw_core core;
    struct pw_unit unit;
    pw_core_init(&core, &finding, &error);
    pw_unit_init(&unit);
    core.now_ms = NOW_MS;
    struct pw_op op = op_of(which);
    assert_true(pw_core_want(&core, &op));
    if (state != GONE)
        assert_non_null(pw_note_delivery(&core, &before));
    struct pw_core_delivery *delivery = pw_want_delivery(&core, DELIVERY);
    assert_non_null(delivery);
    pw_core_begin_unit(&core, &unit);
    assert_int_equal(pw_core_decide(&core, &op), PAWL_OK);
    say_row(words, &before, delivery);
    say_answer(words, &op, delivery);
    pw_core_undo_unit(&core);
    assert_int_equal(delivery->exists, state != GONE); /* R8 */
    assert_false(delivery->is_changed);
    assert_int_equal(delivery->row.epoch, state == GONE ? 0 : EPOCH);
    pw_unit_clear(&unit);
    pw_core_clear(&core);
}

/* ---- The table ------------------------------------------------------------------------------------------------------------ */

#define EVERYWHERE(words)                                                                                              \
    {                                                                                                                  \
        words, words, words, words, words, words, words, words                                                         \
    }
#define WHERE_THERE_IS_ONE(none, words)                                                                                \
    {                                                                                                                  \
        none, words, words, words, words, words, words, words                                                          \
    }

/* clang-format off */
static const char *const expected[OPS][STANDINGS] = {
    [CLAIM] = {
        [GONE] = "same none",
        [PENDING] = "attempts:+1 epoch:+1 next:lease until:lease given",
        [LATER] = "same none",
        [TRIED] = "same none",
        [LEASE_OVER] = "attempts:+1 epoch:+1 next:lease until:lease given",
        [LAST] = "epoch:+1 next:0 until:0 error none",
        [ORPHANED] = "epoch:+1 next:0 error none",
        [FAILED] = "same none",
    },
    [CLAIM_NOTHING] = {
        [GONE] = "same none",
        [PENDING] = "same none",
        [LATER] = "same none",
        [TRIED] = "same none",
        [LEASE_OVER] = "same none",
        [LAST] = "same none",
        [ORPHANED] = "same none",
        [FAILED] = "same none",
    },
    [CLAIM_OF_ANOTHER] = {
        [GONE] = "same none",
        [PENDING] = "same none",
        [LATER] = "same none",
        [TRIED] = "same none",
        [LEASE_OVER] = "same none",
        [LAST] = "same none",
        [ORPHANED] = "same none",
        [FAILED] = "same none",
    },
    [DELIVERED] = WHERE_THERE_IS_ONE("same lost", "deleted kept"),
    [FAILED_ONCE] = {
        [GONE] = "same lost",
        [PENDING] = "next:9000 error kept",
        [LATER] = "error kept",
        [TRIED] = "until:0 error kept",
        [LEASE_OVER] = "next:9000 until:0 error kept",
        [LAST] = "next:9000 until:0 error kept",
        [ORPHANED] = "next:9000 error kept",
        [FAILED] = "next:9000 error kept",
    },
    [FAILED_FOR_GOOD] = {
        [GONE] = "same lost",
        [PENDING] = "next:0 error kept",
        [LATER] = "next:0 error kept",
        [TRIED] = "next:0 until:0 error kept",
        [LEASE_OVER] = "next:0 until:0 error kept",
        [LAST] = "next:0 until:0 error kept",
        [ORPHANED] = "next:0 error kept",
        [FAILED] = "error kept",
    },
    [NOT_TRIED] = {
        [GONE] = "same lost",
        [PENDING] = "attempts:-1 next:now error kept",
        [LATER] = "attempts:-1 next:now error kept",
        [TRIED] = "attempts:-1 next:now until:0 error kept",
        [LEASE_OVER] = "attempts:-1 next:now until:0 error kept",
        [LAST] = "attempts:-1 next:now until:0 error kept",
        [ORPHANED] = "attempts:-1 next:now error kept",
        [FAILED] = "attempts:-1 next:now error kept",
    },
    [SETTLED_TOO_LATE] = EVERYWHERE("same lost"),
    [RESEND] = {
        [GONE] = "same unknown",
        [PENDING] = "attempts:-2 epoch:+1 next:now found",
        [LATER] = "attempts:-2 epoch:+1 next:now found",
        [TRIED] = "attempts:-2 epoch:+1 next:now until:0 found",
        [LEASE_OVER] = "attempts:-2 epoch:+1 next:now until:0 found",
        [LAST] = "attempts:-3 epoch:+1 next:now until:0 found",
        [ORPHANED] = "attempts:-2 epoch:+1 next:now found",
        [FAILED] = "attempts:-2 epoch:+1 next:now found",
    },
    [RESEND_ANOTHER] = EVERYWHERE("same unknown"),
};
/* clang-format on */

TEST(every_op_on_a_delivery_does_what_the_table_says)
{
    for (int which = 0; which < OPS; which++)
        for (int at = 0; at < STANDINGS; at++) {
            char words[128] = "";
            play((enum which)which, (enum standing)at, words);
            if (strcmp(words, expected[which][at]) != 0)
                fail_msg("op %d in state %d: \"%s\", not \"%s\"", which, at, words, expected[which][at]);
        }
}

/* ---- Several ---------------------------------------------------------------------------------------------------------------- */

TEST(those_that_are_due_longest_are_given_out_first_and_not_twice)
{
    static const struct pw_frame finding = { .write = write_nothing, .claim_hooks = find_all };
    static const int64_t since_ms[] = { DUE_MS + 2, DUE_MS, DUE_MS + 1 };
    struct pawl_error error = { PAWL_OK, "" };
    struct pw_core core;
    struct pw_unit unit;
    pw_core_init(&core, &finding, &error);
    pw_unit_init(&unit);
    core.now_ms = NOW_MS;
    for (int64_t i = 0; i < 3; i++) {
        struct pw_hook_row row = row_of(PENDING);
        row.key += i;
        row.next_at_ms = since_ms[i];
        assert_non_null(pw_note_delivery(&core, &row));
    }
    pw_core_begin_unit(&core, &unit);
    struct pw_op first = op_of(CLAIM), second = op_of(CLAIM);
    second.as.hook_claim.max = 9;
    assert_int_equal(pw_core_decide(&core, &first), PAWL_OK);
    assert_int_equal(pw_core_decide(&core, &second), PAWL_OK);
    assert_int_equal(first.as.hook_claim.row_count, 1);
    assert_int_equal(first.as.hook_claim.rows[0].key, DELIVERY + 1);
    assert_int_equal(second.as.hook_claim.row_count, 2);
    assert_int_equal(second.as.hook_claim.rows[0].key, DELIVERY + 2);
    assert_int_equal(second.as.hook_claim.rows[1].key, DELIVERY);
    pw_unit_clear(&unit);
    pw_core_clear(&core);
}
