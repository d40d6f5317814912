/* test_base.c - texts, arenas, tables, durations, errors. */
#include "base/arena.h"
#include "base/clock.h"
#include "common/duration.h"
#include "base/error.h"
#include "base/table.h"
#include "common/text.h"
#include "kit/test.h"

enum { KEY_COUNT = 10000 };

static struct pw_text bytes(const char *data, size_t size)
{
    return (struct pw_text){ data, size };
}

/* ---- Texts ---- */

TEST(trimming_takes_white_space_from_both_ends_only)
{
    assert_true(pw_text_equal(pw_text_trim(pw_text_of(" \t\r\n\v\fa b\n ")), pw_text_of("a b")));
    assert_true(pw_text_equal(pw_text_trim(pw_text_of("a")), pw_text_of("a")));
    assert_int_equal(pw_text_trim(pw_text_of(" \n ")).size, 0);
    assert_int_equal(pw_text_trim(pw_text_of("")).size, 0);
    assert_null(pw_text_trim(pw_text_of(NULL)).data);
    assert_int_equal(pw_text_trim(pw_text_of("\xc2\xa0")).size, 2); /* a no-break space is not ASCII */
}

TEST(texts_are_equal_by_bytes_and_size)
{
    assert_true(pw_text_equal(bytes("a\0b", 3), bytes("a\0b", 3)));
    assert_false(pw_text_equal(bytes("a\0b", 3), bytes("a\0c", 3)));
    assert_false(pw_text_equal(pw_text_of("a"), pw_text_of("ab")));
    assert_true(pw_text_equal(pw_text_of(NULL), pw_text_of("")));
}

TEST(well_formed_utf8_is_accepted)
{
    static const char *const good[] = {
        "",
        "plain",
        "exactly 8, and then some more",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "1234567\xc3\xa4" /* across a word's end */,
        "12345678\xe2\x82\xacstuvwxyz",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(pw_text_is_utf8(pw_text_of(good[i])));
    assert_true(pw_text_is_utf8(bytes("a\0b", 3)));
    assert_true(pw_text_is_utf8(pw_text_of(NULL)));
}

TEST(malformed_utf8_is_refused)
{
    static const char *const bad[] = {
        "\x80",             /* continuation without a lead */
        "\xbf",             /* the same */
        "\xc3",             /* cut short */
        "\xe2\x82",         /* cut short */
        "\xf0\x9f\x92",     /* cut short */
        "\xc3(",            /* no continuation */
        "\xe2\x82(",        /* no continuation */
        "\xf0\x9f\x92(",    /* no continuation */
        "\xc0\x80",         /* overlong NUL */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xed\xa0\x80",     /* surrogate */
        "\xed\xbf\xbf",     /* surrogate */
        "\xf4\x90\x80\x80", /* past U+10FFFF */
        "\xf5\x80\x80\x80", /* past U+10FFFF */
        "\xff",
        "12345678\xff",
        "1234567\xc3stuvwxyz",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(pw_text_is_utf8(pw_text_of(bad[i])));
    assert_false(pw_text_is_utf8(bytes("\xc3\xa4", 1))); /* does not read past the size */
}

TEST(a_text_is_cut_between_characters)
{
    struct pw_text text = pw_text_of("a\xc3\xa4\xf0\x9f\x92\xa9");
    static const size_t sizes[] = { 0, 1, 1, 3, 3, 3, 3, 7, 7 };

    for (size_t size_max = 0; size_max < sizeof sizes / sizeof sizes[0]; size_max++)
        assert_int_equal(pw_text_cut(text, size_max).size, sizes[size_max]);
    assert_null(pw_text_cut(pw_text_of(NULL), 5).data);
    assert_true(pw_text_is_utf8(pw_text_cut(pw_text_of("abc\xff"), 3)));
}

TEST(identifiers_follow_their_rules)
{
    assert_true(pw_text_is_identifier(pw_text_of("a"), 3, false));
    assert_true(pw_text_is_identifier(pw_text_of("0-_"), 3, false));
    assert_true(pw_text_is_identifier(pw_text_of("aZ9-_"), 64, false));
    assert_true(pw_text_is_identifier(pw_text_of("_a"), 64, true));
    assert_false(pw_text_is_identifier(pw_text_of("_a"), 64, false));
    assert_false(pw_text_is_identifier(pw_text_of("-a"), 64, true));
    assert_false(pw_text_is_identifier(pw_text_of("abcd"), 3, true));
    static const char *const bad[] = { "", "a b", "a.b", "a/b", "a@", "a[", "a`", "a{", "a:", "\xc3\xa4", " a", "a\n" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(pw_text_is_identifier(pw_text_of(bad[i]), 64, true));
    assert_false(pw_text_is_identifier(bytes("a\0", 2), 64, true));
    assert_false(pw_text_is_identifier(pw_text_of(NULL), 64, true));
}

/* ---- Arenas ---- */

TEST(every_allocation_is_aligned_and_apart)
{
    struct pw_arena arena = { 0 };
    unsigned char *taken[200];

    for (size_t size = 0; size < 200; size++) {
        taken[size] = pw_arena_take(&arena, size);
        assert_non_null(taken[size]);
        memset(taken[size], (int)size, size);
    }

    for (size_t size = 0; size < 200; size++) {
        assert_int_equal((uintptr_t)taken[size] % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(taken[size][i], size);
        for (size_t other = 0; other < size; other++)
            assert_ptr_not_equal(taken[other], taken[size]);
    }
    pw_arena_clear(&arena);
}

TEST(an_arena_costs_nothing_at_first_and_little_for_little)
{
    struct pw_arena arena;
    pw_arena_init(&arena);
    assert_int_equal(arena.used, 0);

    assert_non_null(pw_arena_take(&arena, 100));
    assert_in_range(arena.used, 100, 1024);

    pw_arena_clear(&arena);
    assert_int_equal(arena.used, 0);
    assert_null(arena.blocks);
}

TEST(blocks_grow_so_that_they_stay_few)
{
    struct pw_arena arena = { 0 };
    size_t blocks = 0, used = 0;

    for (int i = 0; i < 10000; i++) {
        assert_non_null(pw_arena_take(&arena, 600));
        blocks += arena.used != used;
        used = arena.used;
    }

    assert_true(blocks < 110); /* 6 MB in blocks of 64 KiB, and a few smaller ones */
    assert_true(arena.used < 10000 * 608 * 11 / 10);
    pw_arena_clear(&arena);
}

TEST(a_large_request_leaves_the_current_block_in_use)
{
    struct pw_arena arena = { 0 };
    char *before = pw_arena_take(&arena, 16);

    char *large = pw_arena_take(&arena, 1000000);
    char *after = pw_arena_take(&arena, 16);

    assert_non_null(large);
    memset(large, 1, 1000000);
    assert_ptr_equal(after, before + 16);
    assert_in_range(arena.used, 1000000, 1002000);
    pw_arena_clear(&arena);

    assert_non_null(pw_arena_take(&arena, 1000000)); /* as the first request, too */
    assert_non_null(pw_arena_take(&arena, 16));
    pw_arena_clear(&arena);
}

TEST(a_request_that_cannot_be_met_is_answered_with_null)
{
    struct pw_arena arena = { 0 };
    struct pw_text out = pw_text_of("untouched");

    for (size_t less = 0; less < 64; less++)
        assert_null(pw_arena_take(&arena, SIZE_MAX - less));
    assert_null(pw_arena_zero(&arena, SIZE_MAX));
    assert_false(pw_arena_text(&arena, bytes("x", SIZE_MAX), &out));

    assert_string_equal(out.data, "untouched");
    assert_int_equal(arena.used, 0);
}

TEST(zeroed_memory_is_zero)
{
    struct pw_arena arena = { 0 };

    unsigned char *memory = pw_arena_zero(&arena, 3000);

    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(memory[i], 0);
    pw_arena_clear(&arena);
}

TEST(copies_are_terminated_and_absent_stays_absent)
{
    struct pw_arena arena = { 0 };
    struct pw_text copy, empty, absent = pw_text_of("x");

    assert_true(pw_arena_text(&arena, bytes("a\0bc", 3), &copy));
    assert_true(pw_arena_text(&arena, pw_text_of(""), &empty));
    assert_true(pw_arena_text(&arena, pw_text_of(NULL), &absent));

    assert_memory_equal(copy.data, "a\0b", 4);
    assert_int_equal(copy.size, 3);
    assert_string_equal(empty.data, "");
    assert_null(absent.data);
    assert_int_equal(absent.size, 0);
    assert_string_equal(pw_arena_string(&arena, "text"), "text");
    assert_null(pw_arena_string(&arena, NULL));
    pw_arena_clear(&arena);
}

/* ---- Tables ---- */

TEST(a_table_finds_each_of_many_keys_and_no_other)
{
    static char keys[KEY_COUNT][24];
    struct pw_table table = { 0 };
    assert_null(pw_table_find(&table, pw_text_of("key")));

    for (size_t i = 0; i < KEY_COUNT; i++) {
        (void)snprintf(keys[i], sizeof keys[i], "step-%zu", i);
        assert_true(pw_table_add(&table, pw_text_of(keys[i]), keys[i]));
    }

    assert_int_equal(table.count, KEY_COUNT);
    assert_int_equal(table.capacity & (table.capacity - 1), 0);
    assert_true(table.count * 4 <= table.capacity * 3);
    for (size_t i = 0; i < KEY_COUNT; i++) {
        char copy[24];
        (void)snprintf(copy, sizeof copy, "step-%zu", i);
        assert_ptr_equal(pw_table_find(&table, pw_text_of(copy)), keys[i]);
        (void)snprintf(copy, sizeof copy, "other-%zu", i);
        assert_null(pw_table_find(&table, pw_text_of(copy)));
    }
    pw_table_clear(&table);
    assert_null(pw_table_find(&table, pw_text_of("step-1")));
}

TEST(keys_are_told_apart_by_size_and_by_bytes_past_a_nul)
{
    struct pw_table table = { 0 };
    int one, two, three, four;

    assert_true(pw_table_add(&table, bytes("a", 1), &one));
    assert_true(pw_table_add(&table, bytes("a\0", 2), &two));
    assert_true(pw_table_add(&table, bytes("a\0b", 3), &three));
    assert_true(pw_table_add(&table, bytes("", 0), &four));

    assert_ptr_equal(pw_table_find(&table, bytes("a", 1)), &one);
    assert_ptr_equal(pw_table_find(&table, bytes("a\0", 2)), &two);
    assert_ptr_equal(pw_table_find(&table, bytes("a\0b", 3)), &three);
    assert_ptr_equal(pw_table_find(&table, bytes("", 0)), &four);
    assert_null(pw_table_find(&table, bytes("a\0c", 3)));
    pw_table_clear(&table);
}

/* Probing stays short only when the low bits, which choose the place, are as good as the others. */
TEST(hashes_of_similar_names_spread_over_the_low_bits)
{
    unsigned hits[1024] = { 0 }, most = 0;

    for (unsigned i = 0; i < 16 * 1024; i++) {
        char name[48];
        int size = snprintf(name, sizeof name, i % 2 == 0 ? "%u" : "charge-the-card-of-customer-%u", i);
        unsigned *place = &hits[pw_hash(bytes(name, (size_t)size)) % 1024];
        *place += 1;
        most = *place > most ? *place : most;
    }

    assert_in_range(most, 16, 48); /* 16 on average */
}

/* ---- Durations ---- */

TEST(every_unit_is_understood)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {
        { "ms", 1 },          { "s", 1000 },       { "sec", 1000 },       { "second", 1000 },     { "seconds", 1000 },
        { "m", 60000 },       { "min", 60000 },    { "minute", 60000 },   { "minutes", 60000 },   { "h", 3600000 },
        { "hr", 3600000 },    { "hour", 3600000 }, { "hours", 3600000 },  { "d", 86400000 },      { "day", 86400000 },
        { "days", 86400000 }, { "w", 604800000 },  { "week", 604800000 }, { "weeks", 604800000 },
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        char text[32];
        int64_t ms = -1;
        (void)snprintf(text, sizeof text, "3 %s", units[i].unit);
        assert_true(pw_duration_parse(text, &ms));
        assert_int_equal(ms, 3 * units[i].ms);
        (void)snprintf(text, sizeof text, "0%s", units[i].unit);
        assert_true(pw_duration_parse(text, &ms));
        assert_int_equal(ms, 0);
    }
}

TEST(numbers_are_exact_and_rounded_to_the_nearest_ms)
{
    static const struct {
        const char *text;
        int64_t ms;
    } durations[] = {
        { "250", 250 },
        { "0", 0 },
        { "007 s", 7000 },
        { "1.5 hours", 5400000 },
        { "0.1 s", 100 },
        { "1.4", 1 },
        { "1.5", 2 },
        { "0.49999999999999999999999999999", 0 },
        { "0.50000000000000000000000000000", 1 },
        { "0.0004 s", 0 },
        { "0.0005 s", 1 },
        { "0.99999999999999999999 weeks", 604800000 },
        { "2.000000001653439153 weeks", 1209600001 }, /* 1.0000 ms past two weeks */
        { "9223372036854775807", INT64_MAX },
        { "9223372036854775807.4 ms", INT64_MAX },
        { "9223372036854775.807 s", INT64_MAX },
        { "15250284452.4 weeks", 9223372036811520000 },
    };
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        int64_t ms = -1;
        assert_true(pw_duration_parse(durations[i].text, &ms));
        assert_int_equal(ms, durations[i].ms);
    }
}

TEST(anything_else_is_no_duration)
{
    static const char *const bad[] = {
        "",
        " ",
        "s",
        "ms",
        "hour",
        " 1 s",
        "1 s ",
        "1  s",
        "1 ",
        "1\ts",
        "-1 s",
        "+1 s",
        "1e3",
        "1e3 ms",
        ".5 s",
        "1. s",
        "1.",
        "1..5 s",
        "1.5.5 s",
        "1,5 s",
        "0x10",
        "1 S",
        "1 Hour",
        "1 mss",
        "1 secs",
        "1 mins",
        "1 hrs",
        "1 month",
        "1 year",
        "1 us",
        "1 second s",
        "1 hour 5 min",
        "1 h30",
        "one hour",
        "NaN",
        "inf",
        "1 \xc2\xb5s",
        "\xd9\xa1 s",
        "9223372036854775808",
        "9223372036854775807.5",
        "9223372036854775.808 s",
        "15250284453 weeks",
        "99999999999999999999999999 ms",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t ms = -1;
        assert_false(pw_duration_parse(bad[i], &ms));
        assert_int_equal(ms, -1);
    }
    int64_t ms = -1;
    assert_false(pw_duration_parse(NULL, &ms));
}

/* ---- Errors ---- */

TEST(statuses_have_names_and_texts)
{
    assert_string_equal(pawl_status_name(PAWL_OK), "OK");
    assert_string_equal(pawl_status_name(PAWL_INSTANCE_NOT_FOUND), "INSTANCE_NOT_FOUND");
    assert_string_equal(pawl_status_name(PAWL_STORE_TOO_NEW), "STORE_TOO_NEW");
    assert_string_equal(pawl_status_text(PAWL_NOMEM), "out of memory");
    assert_string_equal(pawl_status_name(PAWL_STATUS_COUNT), "UNKNOWN");
    assert_string_equal(pawl_status_name((pawl_status)-1), "UNKNOWN");
    assert_non_null(pawl_status_text((pawl_status)-1));
}

TEST(an_error_is_written_and_its_status_returned)
{
    struct pawl_error error = { PAWL_OK, "" };

    assert_int_equal(pw_error(&error, PAWL_INVALID, "%s is %d", "n", 3), PAWL_INVALID);
    assert_int_equal(error.status, PAWL_INVALID);
    assert_string_equal(error.text, "n is 3");

    (void)pw_error(&error, PAWL_BUSY, "while writing: %s", error.text);
    assert_string_equal(error.text, "while writing: n is 3");

    assert_int_equal(pw_error_plain(&error, PAWL_NOMEM), PAWL_NOMEM);
    assert_string_equal(error.text, pawl_status_text(PAWL_NOMEM));

    assert_int_equal(pw_error(NULL, PAWL_INVALID, "%s", "x"), PAWL_INVALID);
    assert_int_equal(pw_error_plain(NULL, PAWL_INVALID), PAWL_INVALID);
}

TEST(a_long_error_is_cut_between_characters)
{
    static const char *const characters[] = { "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x92\xa9" };
    struct pawl_error error;

    for (size_t kind = 0; kind < 4; kind++)
        for (size_t shift = 0; shift < 4; shift++) {
            char text[1024] = "xxx";
            size_t size = shift, step = kind + 1;
            while (size + step < sizeof text) {
                memcpy(text + size, characters[kind], step);
                size += step;
            }
            text[size] = '\0';
            (void)pw_error(&error, PAWL_INVALID, "%s", text);
            assert_true(pw_text_is_utf8(pw_text_of(error.text)));
            assert_int_equal(strlen(error.text), shift + (sizeof error.text - 1 - shift) / step * step);
        }
}

static PAWL_PRINTF(3, 4) size_t format_text(char *out, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t written = pw_text_format(out, size, format, arguments);
    va_end(arguments);
    return written;
}

TEST(what_a_format_cuts_is_cut_between_characters)
{
    static const char euros[] = "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"; /* 3 of 3 bytes */
    static const char face[] = "\xf0\x9f\x98\x80";
    for (int cut = 0; cut <= 9; cut++) {
        char text[64], expected[64];
        (void)snprintf(expected, sizeof expected, "\"%.*s\" is it", cut / 3 * 3, euros);
        size_t size = format_text(text, sizeof text, "\"%.*s\" is it", cut, euros);
        assert_string_equal(text, expected);
        assert_int_equal(size, strlen(expected));
        struct pawl_error error;
        (void)pw_error(&error, PAWL_INVALID, "\"%.*s\" is it", cut, euros);
        assert_string_equal(error.text, expected);
    }
    for (size_t room = 1; room <= 12; room++) { /* the buffer's end */
        char text[12];
        size_t size = format_text(text, room, "%s", euros);
        assert_int_equal(size, (room - 1) / 3 * 3);
        assert_int_equal(strlen(text), size);
    }
    for (int cut = 1; cut < 4; cut++) {
        char text[16];
        assert_int_equal(format_text(text, sizeof text, "%.*s%s", cut, face, face), 4);
        assert_string_equal(text, face);
    }
}

TEST(a_text_that_is_not_utf8_is_mended)
{
    static const char *const list[][2] = {
        { "", "" },
        { "abc", "abc" },
        { "caf\xe9", "caf" }, /* the beginning of a character */
        { "caf\xe9!", "caf!" },
        { "\x80\xbf", "??" }, /* the end of one */
        { "a\xff\xfe"
          "b",
          "a??b" },               /* of none */
        { "\xc0\xaf", "??" },     /* overlong */
        { "\xed\xa0\x80", "??" }, /* a surrogate */
        { "\xf0\x9f\x98\x80\xf0\x9f", "\xf0\x9f\x98\x80" },
        { "\xe2\x82\xe2\x82\xac", "\xe2\x82\xac" },
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%s", list[i][0]);
        pawl_text_mend(text);
        assert_string_equal(text, list[i][1]);
        assert_true(pw_text_is_utf8(pw_text_of(text)));
    }
}

TEST(what_was_cut_before_is_cut_once_more)
{
    struct pw_text cut = { "ab\xe2\x82", 4 }, wrong = { "a\xff", 2 };
    assert_int_equal(pw_text_cut(cut, 10).size, 2);
    assert_int_equal(pw_text_cut(cut, 1).size, 1);
    assert_true(pw_text_equal(pw_text_cut(wrong, 100), pw_text_of("(a text that is not UTF-8)")));
}

/* ---- Time and chance ---- */

TEST(the_system_gives_time_and_chance)
{
    unsigned char first[64] = { 0 }, second[64] = { 0 };

    int64_t monotonic = pw_system_monotonic_ms();
    pw_system_random(NULL, first, sizeof first);
    pw_system_random(NULL, second, sizeof second);
    pw_system_random(NULL, NULL, 0);

    assert_memory_not_equal(first, second, sizeof first);
    assert_true(pw_system_monotonic_ms() >= monotonic);
    assert_true(pw_system_now_ms(NULL) > INT64_C(1600000000000));
}
