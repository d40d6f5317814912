/* test_value.c - scopes and JSON values: reading, packing, text, and what happens at the bounds. */
#include <jansson.h>
#include <math.h>
#include <pthread.h>

#include "common/json.h"
#include "kit/test.h"
#include "value/value.h"

enum { THREAD_COUNT = 8, DEPTH_MAX = 128 };

static pawl_value *stored(pawl_scope *scope, const char *text)
{
    pawl_value *value = NULL;
    assert_int_equal(pw_value_of_text(scope, pw_text_of(text), &value), PAWL_OK);
    return value;
}

static const char *text_of(pawl_scope *scope, const pawl_value *value)
{
    const char *text = "unset";
    size_t size = 0;
    assert_int_equal(pawl_value_text(scope, value, &text, &size), PAWL_OK);
    assert_int_equal(size, text != NULL ? strlen(text) : 0);
    return text;
}

static void assert_refused(pawl_scope *scope, const char *text, size_t size, const char *expected)
{
    pawl_value *value = NULL;
    struct pawl_error error = { PAWL_OK, "" };
    assert_int_equal(pawl_value_parse(scope, text, size, &value, &error), PAWL_INVALID_JSON);
    assert_null(value);
    assert_int_equal(error.status, PAWL_INVALID_JSON);
    if (strstr(error.text, expected) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, expected);
}

/* ---- Reading ---- */

TEST_WITH(scoped, pawl_scope *scope, the_five_kinds_of_nothing_are_kept_apart)
{
    pawl_value *nothing[] = { parse_value(scope, "0"), parse_value(scope, "false"), parse_value(scope, "\"\""),
                              parse_value(scope, "null"), NULL };
    static const enum pawl_kind kinds[] = { PAWL_KIND_INT, PAWL_KIND_BOOL, PAWL_KIND_STRING, PAWL_KIND_NULL,
                                            PAWL_KIND_NONE };
    static const char *const texts[] = { "0", "false", "\"\"", "null" };

    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pawl_value_kind(nothing[i], NULL), kinds[i]);
        for (size_t j = 0; j < 5; j++)
            assert_int_equal(pawl_value_equal(nothing[i], nothing[j]), i == j);
        if (i < 4)
            assert_string_equal(text_of(scope, nothing[i]), texts[i]);
    }
    assert_null(text_of(scope, NULL));
}

TEST_WITH(scoped, pawl_scope *scope, readers_answer_by_path)
{
    const pawl_value *order =
        parse_value(scope, "{\"name\":\"Ada\",\"lines\":[{\"price\":12.5},{\"price\":3}],\"paid\":true,"
                           "\"note\":null,\"0\":\"zero\",\"\":{\"\":\"empty\"}}");

    assert_string_equal(pawl_value_string(order, "name", "?"), "Ada");
    assert_int_equal(pawl_value_size(order, "name"), 3);
    assert_true(pawl_value_real(order, "lines.0.price", 0) == 12.5);
    assert_int_equal(pawl_value_int(order, "lines.1.price", 0), 3);
    assert_true(pawl_value_real(order, "lines.1.price", 0) == 3.0);
    assert_int_equal(pawl_value_size(order, "lines"), 2);
    assert_int_equal(pawl_value_size(order, ""), 6);
    assert_true(pawl_value_bool(order, "paid", false));
    assert_int_equal(pawl_value_kind(order, "note"), PAWL_KIND_NULL);
    assert_string_equal(pawl_value_string(order, "0", "?"), "zero");
    assert_string_equal(pawl_value_string(order, ".", "?"), "empty");
    assert_int_equal(pawl_value_kind(order, "lines"), PAWL_KIND_ARRAY);
    assert_int_equal(pawl_value_kind(order, NULL), PAWL_KIND_OBJECT);
    assert_int_equal(pawl_value_kind(order, "lines.0.price"), PAWL_KIND_REAL);
    assert_ptr_equal(pawl_value_at(order, ""), order);
    assert_ptr_equal(pawl_value_at(order, NULL), order);
    assert_int_equal(pawl_value_int(pawl_value_at(order, "lines.1"), "price", 0), 3);
    assert_int_equal(pawl_value_int(pawl_value_at(pawl_value_at(order, "lines"), "1"), "price", 0), 3);
}

TEST_WITH(scoped, pawl_scope *scope, what_is_not_there_or_of_another_kind_is_otherwise)
{
    const pawl_value *value = parse_value(scope, "{\"a\":[1,\"x\"],\"s\":\"5\",\"n\":5}");
    static const char *const absent[] = { "b",   "a.2", "a.-1",  "a.+1", "a.x",  "a.1x", "a.", "a.18446744073709551616",
                                          "n.0", "s.0", "a.0.0", ".",    "a..0", " a",   "A",  "a.0x0" };

    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        assert_int_equal(pawl_value_kind(value, absent[i]), PAWL_KIND_NONE);
        assert_null(pawl_value_at(value, absent[i]));
        assert_int_equal(pawl_value_size(value, absent[i]), 0);
    }
    assert_int_equal(pawl_value_int(value, "s", -7), -7);
    assert_true(pawl_value_real(value, "s", -7) == -7);
    assert_string_equal(pawl_value_string(value, "n", "?"), "?");
    assert_null(pawl_value_string(value, "n", NULL));
    assert_true(pawl_value_bool(value, "n", true));
    assert_int_equal(pawl_value_size(value, "n"), 0);
    assert_int_equal(pawl_value_int(NULL, "a", 9), 9);
    assert_null(pawl_value_at(NULL, "a"));
    assert_null(pawl_value_at(NULL, NULL));
    assert_null(pawl_value_item(NULL, 0));
    assert_null(pawl_value_key(NULL, 0));
}

TEST_WITH(scoped, pawl_scope *scope, a_dot_inside_a_key_is_escaped)
{
    const pawl_value *value =
        parse_value(scope, "{\"a.b\":{\"c\":1},\"a\":{\"b\":2},\"x\\\\y\":3,\".\":4,\"d.\":{\"e.f\":5},"
                           "\"z\\\\\":6}");

    assert_int_equal(pawl_value_int(value, "a\\.b.c", 0), 1);
    assert_int_equal(pawl_value_int(value, "a.b", 0), 2);
    assert_int_equal(pawl_value_int(value, "x\\y", 0), 3);
    assert_int_equal(pawl_value_int(value, "\\.", 0), 4);
    assert_int_equal(pawl_value_int(value, "d\\..e\\.f", 0), 5);
    assert_int_equal(pawl_value_int(value, "z\\", 0), 6);
    assert_int_equal(pawl_value_kind(value, "a\\.bc"), PAWL_KIND_NONE);
    assert_int_equal(pawl_value_kind(value, "a\\."), PAWL_KIND_NONE);
}

TEST_WITH(scoped, pawl_scope *scope, whole_reals_are_integers_when_they_fit)
{
    const pawl_value *value =
        parse_value(scope, "[3.0, 3.5, -9223372036854775808.0, 9223372036854775808.0, 1e300, -0.0,"
                           " 9223372036854775807, -9223372036854775808, 9007199254740993]");
    static const int64_t expected[] = { 3, -1, INT64_MIN, -1, -1, 0, INT64_MAX, INT64_MIN, 9007199254740993 };

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(pawl_value_int(pawl_value_item(value, i), NULL, -1), expected[i]);
    assert_int_equal(pawl_value_kind(value, "0"), PAWL_KIND_REAL);
    assert_int_equal(pawl_value_kind(value, "6"), PAWL_KIND_INT);
}

TEST_WITH(scoped, pawl_scope *scope, items_and_keys_come_in_the_order_of_the_text)
{
    const pawl_value *object = parse_value(scope, "{\"z\":1,\"a\":2,\"m\":3}"), *array = parse_value(scope, "[4,5]");
    static const char *const keys[] = { "z", "a", "m" };

    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(pawl_value_key(object, i), keys[i]);
        assert_int_equal(pawl_value_int(pawl_value_item(object, i), NULL, 0), i + 1);
    }
    assert_null(pawl_value_key(object, 3));
    assert_null(pawl_value_item(object, 3));
    assert_null(pawl_value_item(object, SIZE_MAX));
    assert_int_equal(pawl_value_int(pawl_value_item(array, 1), NULL, 0), 5);
    assert_null(pawl_value_item(array, 2));
    assert_null(pawl_value_key(array, 0));
    assert_null(pawl_value_item(parse_value(scope, "{}"), 0));
    assert_null(pawl_value_item(parse_value(scope, "\"text\""), 0));
}

TEST_WITH(scoped, pawl_scope *scope, strings_may_hold_nul_bytes)
{
    const pawl_value *value = parse_value(scope, "\"a\\u0000b\"");

    assert_int_equal(pawl_value_size(value, NULL), 3);
    assert_memory_equal(pawl_value_string(value, NULL, ""), "a\0b", 4);
    assert_string_equal(text_of(scope, value), "\"a\\u0000b\"");
}

TEST_WITH(scoped, pawl_scope *scope, equality_ignores_the_order_of_members_and_nothing_else)
{
    const pawl_value *value = parse_value(scope, "{\"a\":[1,2],\"b\":null}");
    static const char *const others[] = { "{\"a\":[2,1],\"b\":null}", "{\"a\":[1,2]}", "{\"a\":[1.0,2],\"b\":null}",
                                          "{\"a\":[1,2],\"b\":null,\"c\":null}", "null" };

    assert_true(pawl_value_equal(value, parse_value(scope, "{ \"b\": null, \"a\": [1, 2] }")));
    assert_true(pawl_value_equal(value, stored(scope, "{\"b\":null,\"a\":[1,2]}")));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(pawl_value_equal(value, parse_value(scope, others[i])));
}

/* ---- Parsing ---- */

TEST_WITH(scoped, pawl_scope *scope, what_is_not_json_is_refused_with_line_and_column)
{
    assert_refused(scope, "{\"a\":1,\n  \"b\" 2}", 15, "':' is expected (line 2, column 7)");
    assert_refused(scope, "", 0, "JSON: a value is expected (line 1, column 1)");
    assert_refused(scope, "[\"\xc3\xa4\", x]", 9, "(line 1, column 7)");
    static const char *const bad[] = { "nul",  "[1,]",     "{a:1}",  "'x'", "01",    "+1",          "1 2", "[1",
                                       "\"a",  "\"\\x\"",  "NaN",    "1.",  "tru e", "{\"a\"}",     "//",  "[1]]",
                                       "\xff", "\"\xff\"", "\"\n\"", "-",   "1e999", "\"\\ud800\"", "}" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(scope, bad[i], strlen(bad[i]), "column");
    assert_refused(scope, "1\0", 2, "(line 1, column 2)");
    assert_refused(scope, "[1,\n\0 2]", 8, "(line 2, column 1)");
}

TEST_WITH(scoped, pawl_scope *scope, numbers_must_fit)
{
    static const char *const bad[] = { "9223372036854775808",
                                       "[-9223372036854775809]",
                                       "1e309",
                                       "-1e309",
                                       "0.1e310",
                                       "1.7976931348623159e308",
                                       "17976931348623159e292",
                                       "1e99999999999999999999999",
                                       "100000e304",
                                       "0.00002e314" };
    static const char *const good[] = { "9223372036854775807",
                                        "-9223372036854775808",
                                        "1e308",
                                        "-1e308",
                                        "1.7976931348623157e308",
                                        "17976931348623157e292",
                                        "1.7e308",
                                        "2e307",
                                        "0.0001e312",
                                        "0e999999",
                                        "0.0E+99999999999999999999",
                                        "1e-99999999999999999",
                                        "1.79769313486231570814527423731704356798070e+308" };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(scope, bad[i], strlen(bad[i]), "line 1");
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        (void)parse_value(scope, good[i]);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Also on what the text says. */
TEST_WITH(scoped, pawl_scope *scope, we_and_jansson_agree_on_damaged_texts)
{
    static const char sample[] =
        " {\"a\\n\\u00e4\":[1,-2.5e+3,0.1,\"\xc3\xa4\\ud83d\\ude00\\u0000\",true ,false,null,{}],"
        "\t\"b\":{\"c\" : [ ],\"d\":-0,\"e\":1E5,\"\":\"\\\\/\\\"\"}}\r\n";
    static const char spice[] = "{}[]:,\"\\0123456789eE+-. \n\tutfnrbdD8aA/\x01\x7f\xc3\xa4\xed\xff";
    unsigned seed = 1, accepted = 0;

    for (int round = 0; round < 100000; round++) {
        char text[sizeof sample];
        size_t from = round % 3 == 0 ? next_random(&seed) % 40 : 0, size = sizeof sample - 1 - from;
        memcpy(text, sample + from, size);
        for (unsigned changes = next_random(&seed) % 3; changes > 0; changes--)
            text[next_random(&seed) % size] = spice[next_random(&seed) % (sizeof spice - 1)];
        if (round % 5 == 0)
            size = next_random(&seed) % size;
        struct pw_json_flaw flaw;
        json_error_t wrong;
        bool is_json = pw_json_scan((struct pw_text){ text, size }, &flaw);
        json_t *tree = json_loadb(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &wrong);
        if (is_json != (tree != NULL))
            fail_msg("%.*s: %s, Jansson: %s", (int)size, text, is_json ? "good" : flaw.what,
                     tree ? "good" : wrong.text);
        accepted += is_json;
        json_t *ours = pw_json_parse((struct pw_text){ text, size });
        assert_int_equal(ours != NULL, is_json);
        assert_true(!is_json || json_equal(ours, tree));
        json_decref(ours);
        json_decref(tree);
    }

    assert_in_range(accepted, 1000, 99000);
}

/* "[[...]]" of that many levels, behind a string full of brackets that do not count. */
static char *nested(size_t depth)
{
    static const char prefix[] = "[\"[[[[{{{{\\\"[[[\",\n";
    size_t prefix_size = sizeof prefix - 1, size = prefix_size + 2 * (depth - 1) + 1;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, prefix, prefix_size);
    memset(text + prefix_size, '[', depth - 1);
    memset(text + prefix_size + depth - 1, ']', depth);
    text[size] = '\0';
    return text;
}

TEST_WITH(scoped, pawl_scope *scope, nesting_is_accepted_to_128_levels_and_no_further)
{
    char *good = nested(DEPTH_MAX), *bad = nested(DEPTH_MAX + 1);
    pawl_value *value = NULL, *deeper = NULL;

    assert_int_equal(pawl_value_parse(scope, good, strlen(good), &value, NULL), PAWL_OK);
    assert_refused(scope, bad, strlen(bad), "nested too deep (line 2, column 128)");
    assert_int_equal(pawl_value_pack(scope, &deeper, "[V]", value), PAWL_INVALID_JSON);
    assert_int_equal(pawl_value_pack(scope, &deeper, "{s:V}", "x", pawl_value_at(value, "1")), PAWL_OK);
    free(good);
    free(bad);

    char *endless = malloc(1000000);
    assert_non_null(endless);
    memset(endless, '[', 1000000);
    assert_refused(scope, endless, 1000000, "nested too deep");
    free(endless);
}

TEST_WITH(scoped, pawl_scope *scope, a_check_says_what_is_wrong_with_what)
{
    struct pawl_error error = { PAWL_OK, "" };

    assert_int_equal(pw_json_check(pw_text_of("{\"a\":[1,2]}"), 11, "params", &error), PAWL_OK);
    assert_int_equal(pw_json_check(pw_text_of(NULL), 0, "params", &error), PAWL_OK);
    assert_int_equal(error.status, PAWL_OK);

    assert_int_equal(pw_json_check(pw_text_of("{\"a\":[1,2]}"), 10, "params", &error), PAWL_PAYLOAD_TOO_LARGE);
    assert_string_equal(error.text, "params: 11 bytes, at most 10 are allowed");

    assert_int_equal(pw_json_check(pw_text_of("{\"a\":"), 10, "the payload", &error), PAWL_INVALID_JSON);
    assert_int_equal(strncmp(error.text, "the payload: ", 13), 0);
    assert_int_equal(pw_json_check(pw_text_of("{\"a\":"), 10, "the payload", NULL), PAWL_INVALID_JSON);
}

/* ---- Stored text ---- */

TEST_WITH(scoped, pawl_scope *scope, stored_text_is_given_back_as_it_is_read_or_not)
{
    const char *original = "{ \"b\": 1.50, \"a\": [] }";
    pawl_value *value = stored(scope, original);
    const char *before = text_of(scope, value);

    assert_int_equal(pawl_value_size(value, "a"), 0);
    assert_true(pawl_value_real(value, "b", 0) == 1.5);

    assert_string_equal(before, original);
    assert_ptr_equal(text_of(scope, value), before); /* not even copied */
    assert_string_equal(text_of(scope, pawl_value_at(value, "a")), "[]");
    assert_null(stored(scope, NULL));
    assert_int_equal(pw_scope_status(scope), PAWL_OK);
}

TEST_WITH(scoped, pawl_scope *scope, text_in_another_scope_outlives_the_first)
{
    pawl_scope *first = pawl_scope_new();
    const char *lazy = text_of(scope, stored(first, "[1]"));
    const char *parsed = text_of(scope, parse_value(first, "[ 2 ]"));

    pawl_scope_free(first);

    assert_string_equal(lazy, "[1]");
    assert_string_equal(parsed, "[2]");
}

TEST_WITH(scoped, pawl_scope *scope, text_that_cannot_be_read_marks_the_scope)
{
    pawl_value *damaged = stored(scope, "{\"a\":"), *packed = NULL;

    assert_int_equal(pawl_value_kind(damaged, NULL), PAWL_KIND_NONE);
    assert_int_not_equal(pw_scope_status(scope), PAWL_OK);
    assert_int_equal(pawl_value_pack(scope, &packed, "[V]", damaged), PAWL_NOMEM);
}

/* ---- Packing ---- */

TEST_WITH(scoped, pawl_scope *scope, every_letter_packs_its_kind)
{
    pawl_value *value = NULL, *order = parse_value(scope, "{\"id\":7}");

    assert_int_equal(pawl_value_pack(scope, &value, "{s:s, s:i, s:I, s:f, s:b, s:b, s:n, s:V, s:[i,i], s:{}, s:[]}",
                                     "s", "\xc3\xa4\"", "i", -5, "I", (long long)INT64_MAX, "f", 0.5, "t", 2, "f2", 0,
                                     "n", "V", order, "a", 1, 2, "o", "e"),
                     PAWL_OK);

    assert_string_equal(text_of(scope, value),
                        "{\"s\":\"\xc3\xa4\\\"\",\"i\":-5,\"I\":9223372036854775807,\"f\":0.5,\"t\":true,\"f2\":false,"
                        "\"n\":null,\"V\":{\"id\":7},\"a\":[1,2],\"o\":{},\"e\":[]}");
}

TEST_WITH(scoped, pawl_scope *scope, separators_are_optional_and_a_letter_may_stand_alone)
{
    pawl_value *value = NULL;

    assert_int_equal(pawl_value_pack(scope, &value, " { ss\tsi,\n} ", "a", "b", "c", 1), PAWL_OK);
    assert_string_equal(text_of(scope, value), "{\"a\":\"b\",\"c\":1}");
    assert_int_equal(pawl_value_pack(scope, &value, "i", 0), PAWL_OK);
    assert_string_equal(text_of(scope, value), "0");
    assert_int_equal(pawl_value_pack(scope, &value, "n"), PAWL_OK);
    assert_string_equal(text_of(scope, value), "null");
    assert_int_equal(pawl_value_pack(scope, &value, "s", ""), PAWL_OK);
    assert_string_equal(text_of(scope, value), "\"\"");
    assert_int_equal(pawl_value_pack(scope, &value, "f", 0.1), PAWL_OK);
    assert_true(pawl_value_real(parse_value(scope, text_of(scope, value)), NULL, 0) == 0.1);
}

TEST_WITH(scoped, pawl_scope *scope, a_value_that_is_null_is_left_out)
{
    pawl_value *value = NULL;

    assert_int_equal(pawl_value_pack(scope, &value, "{s:V, s:[i,V,i], s:V}", "a", NULL, "b", 1, NULL, 2, "c", NULL),
                     PAWL_OK);
    assert_string_equal(text_of(scope, value), "{\"b\":[1,2]}");
    assert_int_equal(pawl_value_pack(scope, &value, " V ", NULL), PAWL_OK);
    assert_null(value);
}

TEST_WITH(scoped, pawl_scope *scope, a_value_alone_is_handed_on)
{
    pawl_scope *first = pawl_scope_new();
    pawl_value *lazy = NULL, *parsed = NULL;

    assert_int_equal(pawl_value_pack(scope, &lazy, "V", stored(first, "{ \"a\": 1 }")), PAWL_OK);
    assert_int_equal(pawl_value_pack(scope, &parsed, "V", parse_value(first, "{ \"a\": 1 }")), PAWL_OK);
    pawl_scope_free(first);

    assert_string_equal(text_of(scope, lazy), "{ \"a\": 1 }");
    assert_string_equal(text_of(scope, parsed), "{\"a\":1}");
    assert_int_equal(pawl_value_int(lazy, "a", 0), 1);
}

TEST_WITH(scoped, pawl_scope *scope, wrong_formats_and_arguments_are_refused)
{
    pawl_value *value = NULL;
    static const char *const formats[] = { "",   " ",    "x",    "{",    "[",   "}",     "]",     "{s",    "{s}",
                                           "[}", "{]",   "n n",  "[n",   "{n}", "{s:n",  "[n]]",  "{i:n}", "s#",
                                           "S",  "[nx]", "{s:}", "[[n]", "n]",  "{ssn}", "{s:n}n" };

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        assert_int_equal(pawl_value_pack(scope, &value, formats[i], "a", "b", "c"), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(scope, &value, "s", NULL), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(scope, &value, "{s:n}", NULL), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(scope, &value, "[i,s]", 1, "\xff"), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(scope, &value, "{s:n}", "\xff"), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(scope, &value, "f", (double)NAN), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(scope, &value, "f", (double)INFINITY), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(scope, &value, NULL), PAWL_INVALID);
    assert_int_equal(pawl_value_pack(NULL, &value, "n"), PAWL_INVALID);
    assert_null(value);
}

TEST_WITH(scoped, pawl_scope *scope, packing_is_refused_past_128_levels)
{
    char format[2 * (DEPTH_MAX + 1) + 1];
    pawl_value *value = NULL, *deepest = NULL;

    memset(format, '[', DEPTH_MAX + 1);
    memset(format + DEPTH_MAX + 1, ']', DEPTH_MAX + 1);
    format[sizeof format - 1] = '\0';
    assert_int_equal(pawl_value_pack(scope, &value, format), PAWL_INVALID);
    format[sizeof format - 2] = '\0';
    assert_int_equal(pawl_value_pack(scope, &value, format + 1), PAWL_OK);

    value = parse_value(scope, "1");
    for (int depth = 0; depth < DEPTH_MAX; depth += 2)
        assert_int_equal(pawl_value_pack(scope, &value, "[i,{s:V}]", depth, "in", value), PAWL_OK);
    assert_int_equal(pawl_value_pack(scope, &deepest, "[V]", value), PAWL_INVALID_JSON);
}

/* The tree is shared by reference count: it stays valid when the scope it was made in is gone. */
TEST_WITH(scoped, pawl_scope *scope, a_packed_value_outlives_the_scope_it_came_from)
{
    pawl_scope *first = pawl_scope_new();
    const pawl_value *parsed = parse_value(first, "{\"lines\":[{\"price\":3}],\"name\":\"Ada\"}");
    const pawl_value *lazy = stored(first, "[true,\"x\"]");
    pawl_value *value = NULL;

    assert_int_equal(pawl_value_pack(scope, &value, "[V,V,V]", parsed, pawl_value_at(parsed, "lines.0"), lazy),
                     PAWL_OK);
    const char *name = pawl_value_string(value, "0.name", "?");
    pawl_scope_free(first);

    assert_string_equal(name, "Ada");
    assert_int_equal(pawl_value_int(value, "1.price", 0), 3);
    assert_string_equal(text_of(scope, value),
                        "[{\"lines\":[{\"price\":3}],\"name\":\"Ada\"},{\"price\":3},[true,\"x\"]]");
}

TEST_WITH(scoped, pawl_scope *scope, long_text_is_whole)
{
    pawl_value *value = NULL;
    char long_string[10000];
    memset(long_string, 'x', sizeof long_string - 1);
    long_string[sizeof long_string - 1] = '\0';

    /* Sizes around the buffer in which short texts are made. */
    for (size_t size = 2040; size <= 2052; size++) {
        const char *string = long_string + sizeof long_string - 1 - size;
        assert_int_equal(pawl_value_pack(scope, &value, "s", string), PAWL_OK);
        const char *text = text_of(scope, value);
        assert_int_equal(strlen(text), size + 2);
        assert_string_equal(pawl_value_string(parse_value(scope, text), NULL, ""), string);
    }
    assert_int_equal(pawl_value_pack(scope, &value, "[s]", long_string), PAWL_OK);
    assert_int_equal(strlen(text_of(scope, value)), sizeof long_string - 1 + 4);
}

/* ---- Scopes ---- */

TEST_WITH(scoped, pawl_scope *scope, scopes_format_and_copy)
{
    struct pw_text copy;

    const char *name = pawl_scope_format(scope, "line-%d-%s", 7, "x");
    assert_true(pw_scope_text(scope, pw_text_of("abc"), &copy));
    assert_non_null(pw_scope_take(scope, 100000));

    assert_string_equal(name, "line-7-x");
    assert_string_equal(copy.data, "abc");
    assert_string_equal(pawl_scope_format(scope, "%s", ""), "");
    assert_int_equal(strlen(pawl_scope_format(scope, "%5000d", 1)), 5000);
    assert_null(pawl_scope_format(NULL, "%d", 1));
    pawl_scope_free(NULL);
}

struct reader {
    pawl_scope *scope;
    const pawl_value *lazy;
    pthread_barrier_t *start;
    bool is_right;
};

static void *read_everything(void *user)
{
    struct reader *reader = user;
    pawl_value *packed = NULL;
    const char *text = NULL;
    size_t size = 0;
    pthread_barrier_wait(reader->start);
    /* A scope of its own shares the tree, and gives it up again while the others still do. */
    pawl_scope *own = pawl_scope_new();
    reader->is_right =
        pawl_value_int(reader->lazy, "a.1", 0) == 2 && strcmp(pawl_value_key(reader->lazy, 1), "b") == 0 &&
        pawl_value_bool(pawl_value_item(reader->lazy, 1), NULL, false) &&
        pawl_value_pack(own, &packed, "[V,V]", reader->lazy, pawl_value_at(reader->lazy, "a")) == PAWL_OK &&
        pawl_value_text(reader->scope, packed, &text, &size) == PAWL_OK &&
        strcmp(text, "[{\"a\":[1,2],\"b\":true},[1,2]]") == 0;
    pawl_scope_free(own);
    return NULL;
}

TEST_WITH(scoped, pawl_scope *scope, the_first_reads_of_a_value_may_come_from_many_threads_at_once)
{
    for (int round = 0; round < 20; round++) {
        struct reader readers[THREAD_COUNT];
        pthread_t threads[THREAD_COUNT];
        pthread_barrier_t start;
        pawl_value *lazy = stored(scope, "{\"a\":[1,2],\"b\":true}");
        assert_int_equal(pthread_barrier_init(&start, NULL, THREAD_COUNT), 0);

        for (size_t i = 0; i < THREAD_COUNT; i++) {
            readers[i] = (struct reader){ scope, lazy, &start, false };
            assert_int_equal(pthread_create(&threads[i], NULL, read_everything, &readers[i]), 0);
        }
        for (size_t i = 0; i < THREAD_COUNT; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);

        for (size_t i = 0; i < THREAD_COUNT; i++)
            assert_true(readers[i].is_right);
        pthread_barrier_destroy(&start);
    }
}

/* ---- Want of memory ---- */

/* How many more allocations Jansson is granted; all after them fail. */
static size_t allocations_left;
static size_t allocations_to_failure; /* of one that fails alone; 0: it is behind us */

static void *failing_once_malloc(size_t size)
{
    return allocations_to_failure > 0 && --allocations_to_failure == 0 ? NULL : malloc(size);
}

static void *scarce_malloc(size_t size)
{
    if (allocations_left == 0)
        return NULL;
    allocations_left--;
    return malloc(size);
}

static int restore_memory(void **state)
{
    json_set_alloc_funcs(malloc, free);
    return close_scope(state);
}

static const struct test_setting short_of_memory = { open_scope, restore_memory, 0 };

/* Runs `work` with ever more allocations granted, until it has what it needs. */
static size_t starve(pawl_status (*work)(pawl_scope *scope))
{
    size_t granted = 0;
    for (;; granted++) {
        pawl_scope *scope = pawl_scope_new();
        allocations_left = granted;
        json_set_alloc_funcs(scarce_malloc, free);
        pawl_status status = work(scope);
        json_set_alloc_funcs(malloc, free);
        pawl_scope_free(scope);
        if (status == PAWL_OK)
            return granted;
        assert_int_equal(status, PAWL_NOMEM);
        assert_true(granted < 1000);
    }
}

static const char document[] = "{\"a\":[1,2.5,\"x\",{\"b\":null}],\"c\":\"long enough to leave the parser's buffer\"}";

static pawl_status work_parse(pawl_scope *scope)
{
    pawl_value *value = NULL;
    struct pawl_error error = { PAWL_OK, "" };
    pawl_status status = pawl_value_parse(scope, document, sizeof document - 1, &value, &error);
    assert_int_equal(error.status, status);
    assert_int_equal(value != NULL, status == PAWL_OK);
    return status;
}

static pawl_status work_read(pawl_scope *scope)
{
    pawl_value *value = stored(scope, document);
    bool is_read = pawl_value_int(value, "a.0", -1) == 1;
    assert_int_equal(pw_scope_status(scope) == PAWL_OK, is_read);
    return is_read ? PAWL_OK : PAWL_NOMEM;
}

static pawl_status work_pack(pawl_scope *scope)
{
    pawl_value *value = NULL;
    return pawl_value_pack(scope, &value, "{s:[i,f,s,{s:n}],s:V}", "a", 1, 2.5, "x", "b", "c", stored(scope, "[1]"));
}

static pawl_status work_text(pawl_scope *scope)
{
    pawl_value *value = NULL;
    const char *text = NULL;
    size_t size = 0;
    pawl_status status = pawl_value_pack(scope, &value, "[i,s]", 1, "x");
    return status == PAWL_OK ? pawl_value_text(scope, value, &text, &size) : status;
}

TEST_WITH(short_of_memory, pawl_scope *scope, want_of_memory_is_an_answer_wherever_it_strikes)
{
    assert_true(starve(work_parse) > 5);
    assert_true(starve(work_read) > 5);
    assert_true(starve(work_pack) > 5);
    assert_true(starve(work_text) > 2);
}

/* Jansson's own reader drops bytes of a token when the buffer for it cannot grow. */
TEST_WITH(short_of_memory, pawl_scope *scope, a_text_that_was_parsed_while_memory_was_short_is_whole)
{
    static const char *const texts[] = {
        "\"a string that needs a longer buffer than the first one\"",
        "{\"a key that needs a longer one\":[1,\"and \\\"escapes\\\", commas, \\u0041 too, in what is the longest of all\"]}",
        "[1,2,1234567890123456789,-0.12345678901234567890123456789012345678901234567890]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pawl_value *right, *parsed;
        int failures = 0;
        assert_int_equal(pawl_value_parse(scope, texts[i], strlen(texts[i]), &right, NULL), PAWL_OK);
        for (size_t nth = 1;; nth++) {
            allocations_to_failure = nth;
            json_set_alloc_funcs(failing_once_malloc, free);
            pawl_status status = pawl_value_parse(scope, texts[i], strlen(texts[i]), &parsed, NULL);
            json_set_alloc_funcs(malloc, free);
            if (status == PAWL_OK)
                assert_true(pawl_value_equal(right, parsed));
            else
                assert_int_equal(status, PAWL_NOMEM);
            failures += status != PAWL_OK;
            if (allocations_to_failure > 0) /* it needs no more than those before */
                break;
        }
        assert_true(failures > 0);
    }
}

TEST(reals_are_written_as_short_as_they_can_be)
{
    static const char *const texts[] = { "19.99",  "0.1",           "-0.1", "1000.0", "0.30000000000000004",    "1e300",
                                         "1.5e-7", "123456789.125", "0.0",  "-0.0",   "2.2250738585072014e-308" };
    pawl_scope *scope = pawl_scope_new();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pawl_value *value, *packed, *again;
        const char *text;
        size_t size;
        assert_int_equal(pawl_value_parse(scope, texts[i], strlen(texts[i]), &value, NULL), PAWL_OK);
        assert_int_equal(pawl_value_pack(scope, &packed, "{s:V, s:s}", "n", value, "0.10000000000000001", "\"1.10e1\\"),
                         PAWL_OK);
        assert_int_equal(pawl_value_text(scope, packed, &text, &size), PAWL_OK);
        assert_int_equal(strlen(text), size);
        assert_int_equal(pawl_value_parse(scope, text, size, &again, NULL), PAWL_OK);
        assert_true(pawl_value_equal(packed, again)); /* the very same number, and texts that only look like one */
        assert_true(size <= strlen(texts[i]) + strlen("{\"n\":,\"0.10000000000000001\":\"\\\"1.10e1\\\\\"}"));
    }
    pawl_scope_free(scope);
}
