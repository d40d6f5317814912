/* test_value_walk.c - a JSON text walked by its parts, without reading it, and checked without building anything. */
#include "kit/test.h"
#include "pawl/value.h"

/* "key=text|key=text|", or "text|text|" of an array. */
static const char *walked(const char *text, char *out, size_t room)
{
    struct pawl_json_part part;
    size_t position = 0, used = 0;
    out[0] = '\0';
    while (pawl_json_next(text, strlen(text), &position, &part)) {
        int added = snprintf(out + used, room - used, "%.*s%s%.*s|", (int)part.key_size,
                             part.key != NULL ? part.key : "", part.key != NULL ? "=" : "", (int)part.size, part.text);
        used += (size_t)added;
        assert_true(used < room);
    }
    return out;
}

static void assert_parts(const char *text, const char *expected)
{
    char out[512];
    assert_string_equal(walked(text, out, sizeof out), expected);
}

TEST(members_and_elements_come_as_they_were_written)
{
    assert_parts("{\"a\":1,\"b\":[1, 2],\"c\":{\"d\":null}}", "\"a\"=1|\"b\"=[1, 2]|\"c\"={\"d\":null}|");
    assert_parts(" { \"a\" : \"x\" , \"b\" : -1.5e3 } ", "\"a\"=\"x\"|\"b\"=-1.5e3|");
    assert_parts("[1,\"two\",[3],{\"four\":4},true,null]", "1|\"two\"|[3]|{\"four\":4}|true|null|");
    assert_parts("\n[\t1\r,\n2 ]", "1|2|");
}

TEST(what_stands_in_strings_is_not_taken_for_structure)
{
    assert_parts("{\"a,}\\\"\":\"]},:\\\\\",\"b\":[\"}\",\"]\\\"[\"]}",
                 "\"a,}\\\"\"=\"]},:\\\\\"|\"b\"=[\"}\",\"]\\\"[\"]|");
    assert_parts("[\":\", \"a\" ,\"\\\\\"]", "\":\"|\"a\"|\"\\\\\"|");
}

TEST(the_same_key_twice_comes_twice)
{
    assert_parts("{\"a\":1,\"a\":2}", "\"a\"=1|\"a\"=2|");
}

TEST(empty_containers_and_scalars_have_no_parts)
{
    static const char *const texts[] = { "{}", "[]", " { } ", "[\n]", "1", "\"a\"", "null", "true", "" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_parts(texts[i], "");
}

TEST(a_walk_that_is_over_stays_over)
{
    static const char text[] = "[1]";
    struct pawl_json_part part;
    size_t position = 0;
    assert_true(pawl_json_next(text, 3, &position, &part));
    for (int i = 0; i < 3; i++)
        assert_false(pawl_json_next(text, 3, &position, &part));
    assert_false(pawl_json_next(NULL, 0, &position, &part));
    assert_false(pawl_json_next(text, 3, NULL, &part));
    assert_false(pawl_json_next(text, 3, &position, NULL));
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Of exactly its size, so that a sanitizer sees a byte too many. */
static char *exact_copy(const char *text, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    return copy;
}

/* Each part, parsed for itself, is what the whole has at its place; and there are as many. */
static void assert_walk_agrees(pawl_scope *scope, const char *text, size_t size)
{
    pawl_value *whole, *value;
    struct pawl_json_part part;
    size_t position = 0, count = 0;
    assert_int_equal(pawl_value_parse(scope, text, size, &whole, NULL), PAWL_OK);
    enum pawl_kind kind = pawl_value_kind(whole, NULL);
    bool is_object = kind == PAWL_KIND_OBJECT;
    while (pawl_json_next(text, size, &position, &part)) {
        assert_int_equal(is_object, part.key != NULL);
        assert_int_equal(pawl_value_parse(scope, part.text, part.size, &value, NULL), PAWL_OK);
        if (!is_object)
            assert_true(pawl_value_equal(value, pawl_value_item(whole, count)));
        if (is_object)
            assert_int_equal(pawl_value_parse(scope, part.key, part.key_size, &value, NULL), PAWL_OK);
        count++;
    }
    if (!is_object) /* an object keeps one member of a key */
        assert_int_equal(count, kind == PAWL_KIND_ARRAY ? pawl_value_size(whole, NULL) : 0);
    assert_true(count >= pawl_value_size(whole, NULL) || kind == PAWL_KIND_STRING);
}

TEST(damaged_texts_are_walked_like_parsed_ones_or_at_least_within_bounds)
{
    static const char sample[] =
        " {\"a\\n\\u00e4\":[1,-2.5e+3,\"\xc3\xa4\\ud83d\\ude00\",true ,{}],\t\"b\":{\"c\" : [ ],\"\":\"\\\\/\\\"\"}}\r\n";
    static const char spice[] = "{}[]:,\"\\0123456789eE+-. \n\tutfnr\x01\xc3\xa4";
    unsigned seed = 7, accepted = 0;
    for (int round = 0; round < 60000; round++) {
        char damaged[sizeof sample];
        size_t from = round % 3 == 0 ? next_random(&seed) % 40 : 0, size = sizeof sample - 1 - from;
        memcpy(damaged, sample + from, size);
        for (unsigned changes = next_random(&seed) % 3; changes > 0; changes--)
            damaged[next_random(&seed) % size] = spice[next_random(&seed) % (sizeof spice - 1)];
        if (round % 5 == 0)
            size = next_random(&seed) % size;
        char *text = exact_copy(damaged, size);
        if (pawl_json_check(text, size, 0, NULL) == PAWL_OK) {
            pawl_scope *scope = pawl_scope_new();
            assert_non_null(scope);
            assert_walk_agrees(scope, text, size);
            pawl_scope_free(scope);
            accepted++;
        }
        struct pawl_json_part part;
        size_t position = 0, steps = 0;
        while (pawl_json_next(text, size, &position, &part))
            assert_true(++steps <= size && position <= size && part.text + part.size <= text + size);
        free(text);
    }
    assert_in_range(accepted, 500, 59000);
}

TEST(a_check_takes_the_depth_it_is_told)
{
    struct pawl_error error = { PAWL_OK, "" };
    char text[4000];
    memset(text, '[', 2000);
    memset(text + 2000, ']', 2000);

    assert_int_equal(pawl_json_check(text + 2000 - 128, 256, 0, &error), PAWL_OK);
    assert_int_equal(pawl_json_check(text + 2000 - 129, 258, 0, &error), PAWL_INVALID_JSON);
    assert_string_equal(error.text, "nested too deep (line 1, column 129)");
    assert_int_equal(pawl_json_check(text + 2000 - 129, 258, 129, &error), PAWL_OK);
    assert_int_equal(pawl_json_check(text + 2000 - 130, 260, 129, &error), PAWL_INVALID_JSON);
    assert_int_equal(pawl_json_check(text + 1000, 2000, 1000000, &error), PAWL_OK);
    assert_int_equal(pawl_json_check(text + 999, 2002, 1000000, &error), PAWL_INVALID_JSON);
    assert_int_equal(pawl_json_check(NULL, 0, 0, &error), PAWL_INVALID);
    assert_int_equal(pawl_json_check("{\"a\":\n x}", 9, 0, &error), PAWL_INVALID_JSON);
    assert_string_equal(error.text, "a value is expected (line 2, column 2)");
}

TEST(memory_of_a_scope_is_fit_for_any_type_and_lives_as_long)
{
    pawl_scope *scope = pawl_scope_new();
    long double *numbers = pawl_scope_take(scope, 100 * sizeof *numbers);
    assert_non_null(numbers);
    assert_int_equal((uintptr_t)numbers % _Alignof(max_align_t), 0);
    memset(numbers, 1, 100 * sizeof *numbers);
    char *letter = pawl_scope_take(scope, 1);
    assert_non_null(letter);
    assert_ptr_not_equal(letter, numbers);
    assert_null(pawl_scope_take(NULL, 1));
    assert_null(pawl_scope_take(scope, SIZE_MAX));
    pawl_scope_free(scope);
}
