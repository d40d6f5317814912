/* test_handler_text.c - the growing text and the JSON writer: commas, escapes, times, and what is not UTF-8. */
#include <time.h>

#include "common/json_writer.h"
#include "kit/test.h"
#include "pawl/value.h"

TEST(a_text_grows_and_ends_with_nul)
{
    struct pw_buffer text = { 0 };
    for (int i = 0; i < 10000; i++)
        pw_buffer_format(&text, "%d,", i % 10);
    pw_buffer_add(&text, "", 0);
    assert_int_equal(text.size, 20000);
    assert_int_equal(strlen(text.data), 20000);
    pw_buffer_reset(&text);
    pw_buffer_put(&text, "again");
    assert_string_equal(text.data, "again");
    pw_buffer_clear(&text);
    assert_null(text.data);
    assert_int_equal(text.size, 0);
}

TEST(integers_are_written_to_their_limits)
{
    static const int64_t numbers[] = { 0, 7, -1, 10, -1234567890, INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct pw_buffer text = { 0 };
        char expected[32];
        snprintf(expected, sizeof expected, "%lld", (long long)numbers[i]);
        pw_buffer_integer(&text, numbers[i]);
        assert_string_equal(text.data, expected);
        pw_buffer_clear(&text);
    }
}

TEST(commas_stand_between_values_and_nowhere_else)
{
    struct pw_buffer text = { 0 };
    pw_json_open(&text, NULL, '{');
    pw_json_open(&text, "none", '[');
    pw_json_close(&text, ']');
    pw_json_open(&text, "all", '[');
    pw_json_integer(&text, NULL, 1);
    pw_json_bool(&text, NULL, true);
    pw_json_raw(&text, NULL, " {\"a\": 1} "); /* as received */
    pw_json_string(&text, NULL, NULL);
    pw_json_open(&text, NULL, '{');
    pw_json_close(&text, '}');
    pw_json_time_or_null(&text, NULL, 0);
    pw_json_close(&text, ']');
    pw_json_raw(&text, "nothing", NULL);
    pw_json_string(&text, "text", "x");
    pw_json_close(&text, '}');
    assert_string_equal(text.data,
                        "{\"none\":[],\"all\":[1,true, {\"a\": 1} ,null,{},null],\"nothing\":null,\"text\":\"x\"}");
    pw_buffer_clear(&text);
}

static void assert_string(const char *value, const char *expected)
{
    struct pw_buffer text = { 0 };
    pw_json_string(&text, NULL, value);
    assert_string_equal(text.data, expected);
    pw_buffer_clear(&text);
}

TEST(strings_are_escaped_as_far_as_they_must_be)
{
    assert_string("", "\"\"");
    assert_string("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    assert_string("\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
    assert_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

#define WRONG "\xef\xbf\xbd"

TEST(what_is_not_utf8_is_replaced)
{
    assert_string("\xff", "\"" WRONG "\"");
    assert_string("a\xc3", "\"a" WRONG "\"");
    assert_string("\xc3(", "\"" WRONG "(\"");
    assert_string("\xc0\x80", "\"" WRONG WRONG "\"");                     /* overlong */
    assert_string("\xe0\x80\x80", "\"" WRONG WRONG WRONG "\"");           /* overlong */
    assert_string("\xed\xa0\x80", "\"" WRONG WRONG WRONG "\"");           /* half of a pair */
    assert_string("\xf4\x90\x80\x80", "\"" WRONG WRONG WRONG WRONG "\""); /* past the last character */
    assert_string("\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"");
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

TEST(whatever_the_bytes_the_writing_is_json)
{
    unsigned seed = 3;
    for (int round = 0; round < 20000; round++) {
        char bytes[24];
        size_t size = next_random(&seed) % (sizeof bytes - 1);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (char)(1 + next_random(&seed) % 255);
        bytes[size] = '\0';
        struct pw_buffer text = { 0 };
        pw_json_string(&text, NULL, bytes);
        assert_int_equal(pawl_json_check(text.data, text.size, 0, NULL), PAWL_OK);
        pw_buffer_clear(&text);
    }
}

TEST(times_are_those_of_the_calendar)
{
    static const struct {
        int64_t at_ms;
        const char *text;
    } known[] = {
        { 0, "\"1970-01-01T00:00:00.000Z\"" },
        { 1, "\"1970-01-01T00:00:00.001Z\"" },
        { -1, "\"1969-12-31T23:59:59.999Z\"" },
        { INT64_C(951782400000), "\"2000-02-29T00:00:00.000Z\"" },
        { INT64_C(1767225600000), "\"2026-01-01T00:00:00.000Z\"" },
        { INT64_C(4107542399999), "\"2100-02-28T23:59:59.999Z\"" },
        { INT64_C(4107542400000), "\"2100-03-01T00:00:00.000Z\"" },
        { INT64_C(253402300799999), "\"9999-12-31T23:59:59.999Z\"" },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct pw_buffer text = { 0 };
        pw_json_time(&text, NULL, known[i].at_ms);
        assert_string_equal(text.data, known[i].text);
        pw_buffer_clear(&text);
    }
    unsigned seed = 5;
    for (int round = 0; round < 20000; round++) {
        int64_t at_s = ((int64_t)next_random(&seed) << 14 | next_random(&seed) % 16384) % INT64_C(253402300800);
        time_t seconds = (time_t)at_s;
        struct tm date;
        char expected[64];
        struct pw_buffer text = { 0 };
        assert_non_null(gmtime_r(&seconds, &date));
        assert_true(strftime(expected, sizeof expected, "\"%Y-%m-%dT%H:%M:%S.042Z\"", &date) > 0);
        pw_json_time(&text, NULL, at_s * 1000 + 42);
        assert_string_equal(text.data, expected);
        pw_buffer_clear(&text);
    }
}
