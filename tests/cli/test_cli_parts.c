/* test_cli_parts.c - the parts of pawl by themselves, with the time given: durations, moments, widths, tables, bars. */
#include "golden.h"

#include "cli/columns.h"
#include "cli/history.h"
#include "cli/json_output.h"
#include "cli/moment.h"
#include "cli/run.h"
#include "common/suggest.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "cli/view.h"
#include "cli/reason.h"

#include <locale.h>
#include <time.h>

static const int64_t NOON = 1767268800000; /* 2026-01-01T12:00:00.000Z */

/* ---- Time ------------------------------------------------------------------------------------------------------------ */

TEST(durations_are_read_as_the_engine_reads_them)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: not one */
    } list[] = {
        { "30", 30000 },
        { "1.5s", 1500 },
        { "500 ms", 500 },
        { "500ms", 500 },
        { "2 minutes", 120000 },
        { "2m", 120000 },
        { "1h", 3600000 },
        { "1 hr", 3600000 },
        { "1 day", 86400000 },
        { "1w", 604800000 },
        { "365 days", 31536000000 },
        { "366 days", -1 },
        { "", -1 },
        { "s", -1 },
        { "-1s", -1 },
        { "1x", -1 },
        { "0x10", -1 },
        { "1 s s", -1 },
        { "nan", -1 },
        { "1e400", -1 },
    };
    for (size_t i = 0; i < LENGTH(list); i++) {
        int64_t ms = -1;
        if (duration_parse(list[i].text, &ms) != (list[i].ms >= 0) || ms != list[i].ms)
            fail_msg("\"%s\" is %lld", list[i].text, (long long)ms);
    }
}

TEST(durations_are_shown_in_two_units_at_most)
{
    static const struct {
        int64_t ms;
        const char *text;
    } list[] = {
        { 0, "0 ms" },       { 999, "999 ms" },        { 1000, "1.0 s" },  { 59999, "59.9 s" },
        { 60000, "1 min" },  { 125000, "2 min 5 s" },  { 3600000, "1 h" }, { 11520000, "3 h 12 min" },
        { 86400000, "1 d" }, { 183600000, "2 d 3 h" },
    };
    struct pool pool = { NULL };
    for (size_t i = 0; i < LENGTH(list); i++)
        assert_string_equal(duration_show(&pool, list[i].ms), list[i].text);
    pool_clear(&pool);
}

TEST(numbers_are_shown_in_groups_of_three)
{
    struct pool pool = { NULL };
    assert_string_equal(number_show(&pool, 0), "0");
    assert_string_equal(number_show(&pool, 999), "999");
    assert_string_equal(number_show(&pool, 1204), "1,204");
    assert_string_equal(number_show(&pool, 1000000), "1,000,000");
    pool_clear(&pool);
}

TEST(moments_are_told_from_now)
{
    struct pool pool = { NULL };
    int64_t ms;
    assert_true(moment_parse("2026-01-01T12:00:00.000Z", &ms) && ms == NOON);
    assert_false(moment_parse("2026-01-01T12:00:00Z", &ms) || moment_parse("", &ms) ||
                 moment_parse("2026-01-01T12:00:00.000Zx", &ms));
    assert_string_equal(moment_show(&pool, NOON - 1000, NOON), "11:59:59");
    assert_string_equal(moment_show(&pool, NOON - 43201000, NOON), "yesterday 23:59:59");
    assert_string_equal(moment_show_coarse(&pool, NOON + 43200000, NOON), "tomorrow 00:00");
    assert_string_equal(moment_show_coarse(&pool, NOON + 30000, NOON), "12:00:30");
    assert_string_equal(moment_show(&pool, NOON + 400000000000, NOON), "2038-09-05 03:06:40");
    assert_string_equal(moment_show_exact(&pool, NOON + 123, NOON), "12:00:00.123");
    assert_string_equal(moment_show_exact(&pool, NOON - 86400000, NOON), "2025-12-31 12:00:00.000");
    assert_string_equal(moment_relative(&pool, NOON - 200000, NOON), "3 min ago");
    assert_string_equal(moment_relative(&pool, NOON + 7200000, NOON), "in 2 h");
    assert_string_equal(moment_relative(&pool, NOON - 10, NOON), "just now");
    pool_clear(&pool);
}

/* ---- Text ------------------------------------------------------------------------------------------------------------ */

TEST(words_that_are_nearly_right_are_found)
{
    static const char *const words[] = { "list", "get", "history", "restart", "resume", "errored", "send-event" };
    static const struct {
        const char *word, *nearest;
    } list[] = {
        { "lst", "list" },     { "lsit", "list" },
        { "hist", "history" }, { "restrat", "restart" },
        { "eror", "errored" }, { "sendevent", "send-event" },
        { "x", NULL },         { "zebra", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < LENGTH(list); i++) {
        const char *found = pw_suggest(list[i].word, words, LENGTH(words));
        if (list[i].nearest == NULL ? found != NULL : found == NULL || strcmp(found, list[i].nearest) != 0)
            fail_msg("\"%s\" is taken for %s", list[i].word, found != NULL ? found : "nothing");
    }
}

TEST(what_is_cut_is_cut_between_characters)
{
    static const char euros[] = "€€€";
    for (int cut = 0; cut <= 9; cut++) {
        struct problem problem = { 0 };
        char expected[64];
        (void)snprintf(expected, sizeof expected, "no \"%.*s\" here", cut / 3 * 3, euros);
        (void)problem_use(&problem, "no \"%.*s\" here", cut, euros);
        assert_string_equal(problem.text, expected);
    }
    char foreign[] = "\xff\xc3(";
    text_mend(foreign);
    assert_string_equal(foreign,
                        "?("); /* the beginning of a character is taken out, and what is part of none is shown */
}

TEST(text_is_made_safe_and_measured)
{
    struct pool pool = { NULL };
    assert_string_equal(safe(&pool, "a\033[31m\tb\n\x7f"), "a\\x1b[31m\\tb\\n\\x7f");
    assert_string_equal(safe(&pool, "ä€😀"), "ä€😀");
    assert_string_equal(safe(&pool, "\xc3\x28\xff\xc0\xaf\xed\xa0\x80"), "\\xc3(\\xff\\xc0\\xaf\\xed\\xa0\\x80");
    assert_string_equal(safe(&pool, "\xc2\x9b"
                                    "31m"),
                        "\\xc2\\x9b31m"); /* the same escape in one character */
    assert_string_equal(safe(&pool, "\xe2\x80\xae"
                                    "txt"),
                        "\\xe2\\x80\\xaetxt"); /* turns the direction around */
    assert_int_equal(text_width("ä€"), 2);
    assert_int_equal(text_width("漢字"), 4);
    assert_int_equal(text_fit("漢字", 3), 3);
    pool_clear(&pool);
}

TEST(numbers_keep_their_digits)
{
    static const char text[] =
        "{\"a\":1.10,\"b\":0.1,\"c\":1E+300,\"d\":3.0,\"e\":-7,\"f\":[],\"g\":{},\"h\":\"\\u0000ä\","
        "\"i\":12345678901234567890123,\"j\":-0,\"k\":[1e400,0],\"l\":\"\\u00001.10\",\"m\":\"1.10\","
        "\"n\":\"\\u0000\"}";
    struct pool pool = { NULL };
    json_t *value = json_read(text, strlen(text));
    assert_non_null(value);
    assert_string_equal(json_show(&pool, value), text);
    assert_int_equal(json_number(value, "e", 0), -7);
    assert_string_equal(json_text(value, "a", "none"), "none"); /* a number is no text */
    assert_null(json_read("1 2", 3));
    assert_null(json_read("{\"a\":1.1.1}x", 12));
    assert_null(json_read("2u\\\"", 4)); /* found by fuzz_cli_json */
    json_decref(value);
    pool_clear(&pool);
}

TEST(json_is_laid_out_anew_without_a_change_to_any_part)
{
    static const char text[] = " {\"a\" : [1.10 , {} ,[ ]],\n\"a\":\"x\\u0041 ,]\" , \"b\":{\"c\":null}} ";
    struct pw_buffer out = { 0 };
    json_lay_out(&out, text, strlen(text), 0);
    assert_string_equal(text_string(&out), "{\"a\":[1.10,{},[]],\"a\":\"x\\u0041 ,]\",\"b\":{\"c\":null}}");
    pw_buffer_reset(&out);
    json_lay_out(&out, text, strlen(text), 2);
    assert_string_equal(text_string(&out),
                        "{\n  \"a\": [\n    1.10,\n    {},\n    []\n  ],\n  \"a\": \"x\\u0041 ,]\",\n"
                        "  \"b\": {\n    \"c\": null\n  }\n}");
    pw_buffer_clear(&out);
}

/* ---- Pictures -------------------------------------------------------------------------------------------------------- */

static struct session session_of(size_t width, bool is_terminal)
{
    struct session session = { .screen = { .is_terminal = is_terminal,
                                           .has_colour = is_terminal,
                                           .has_utf8 = true,
                                           .width = width,
                                           .now_ms = NOON } };
    return session;
}

static void session_clear(struct session *session)
{
    pw_buffer_clear(&session->out);
    pool_clear(&session->pool);
}

TEST(columns_are_aligned_and_the_last_is_cut)
{
    static const struct column columns[] = { { .heading = "NAME" },
                                             { .heading = "SIZE", .is_right = true },
                                             { .heading = "NOTE", .is_flexible = true },
                                             { .heading = NULL } };
    struct session session = session_of(40, false);
    struct table table;
    table_init(&table, columns, NULL);
    table_row(&table);
    table_cell(&table, STYLE_PLAIN, "漢字");
    table_cell(&table, STYLE_PLAIN, "7");
    table_cell(&table, STYLE_PLAIN, "a note that is much too long to fit into it");
    table_row(&table);
    table_cell(&table, STYLE_PLAIN, "plain text");
    table_cell(&table, STYLE_PLAIN, "12345");
    table_cell(&table, STYLE_PLAIN, "");
    table_print(&table, &session.screen, &session.out);
    assert_string_equal(text_string(&session.out), "NAME         SIZE  NOTE\n"
                                                   "漢字            7  a note that is much …\n"
                                                   "plain text  12345\n");
    table_free(&table);
    session_clear(&session);
}

static const char instance_text[] =
    "{\"id\":\"a-1\",\"details\":{\"status\":\"waiting\",\"phase\":\"waiting\",\"waitingFor\":{\"reason\":\"all\","
    "\"fork\":\"both\",\"more\":7,\"parts\":[{\"reason\":\"first\",\"fork\":\"race\",\"branch\":0,\"parts\":[{\"reason\":"
    "\"waitingForEvent\",\"step\":\"ask\",\"event\":\"approval\",\"until\":\"2026-01-01T15:02:00.000Z\"}]},"
    "{\"reason\":\"waitingForRetry\",\"step\":\"mail\",\"attempts\":2,\"until\":\"2026-01-01T12:00:05.000Z\","
    "\"error\":{\"name\":\"Refused\",\"message\":\"come again\"}}]}},\"meta\":{\"workflowName\":\"order\","
    "\"runNumber\":2,\"params\":{\"sku\":\"teapot\",\"price\":19.99},\"createdAt\":\"2026-01-01T11:00:00.000Z\","
    "\"updatedAt\":\"2026-01-01T11:59:10.000Z\",\"startedAt\":\"2026-01-01T11:59:00.000Z\",\"completedAt\":null}}";

static const char history_text[] =
    "{\"runNumber\":2,\"stepsHasNextPage\":true,\"steps\":["
    "{\"stepKey\":\"reserve\",\"name\":\"reserve\",\"type\":\"do\",\"status\":\"completed\",\"attempts\":2,\"maxAttempts\":6,"
    "\"nextRetryAt\":null,\"wakeAt\":null,\"result\":{\"ok\":true},"
    "\"createdAt\":\"2026-01-01T11:59:00.000Z\",\"updatedAt\":\"2026-01-01T11:59:15.000Z\"},"
    "{\"stepKey\":\"charge\",\"name\":\"charge\",\"type\":\"do\",\"status\":\"errored\",\"state\":\"failed\",\"attempts\":1,\"maxAttempts\":1,"
    "\"nextRetryAt\":null,\"wakeAt\":null,\"error\":{\"name\":\"CardDeclined\",\"message\":\"no money\"},"
    "\"createdAt\":\"2026-01-01T11:59:15.000Z\",\"updatedAt\":\"2026-01-01T11:59:30.000Z\"},"
    "{\"stepKey\":\"ask\",\"name\":\"ask\",\"type\":\"waitForEvent\",\"status\":\"waiting\",\"attempts\":0,\"maxAttempts\":null,"
    "\"nextRetryAt\":null,\"wakeAt\":\"2026-01-01T15:02:00.000Z\",\"waitsFor\":{\"event\":\"approval\"},"
    "\"createdAt\":\"2026-01-01T11:59:30.000Z\",\"updatedAt\":\"2026-01-01T11:59:30.000Z\"},"
    "{\"stepKey\":\"mail\",\"name\":\"mail\",\"type\":\"do\",\"status\":\"waiting\",\"attempts\":2,\"maxAttempts\":null,"
    "\"nextRetryAt\":\"2026-01-01T12:00:05.000Z\",\"wakeAt\":null,"
    "\"error\":{\"name\":\"Refused\",\"message\":\"come again\"},"
    "\"createdAt\":\"2026-01-01T11:59:45.000Z\",\"updatedAt\":\"2026-01-01T11:59:50.000Z\"}]}";

/* A child that made two of its own, one of whose steps failed, and which is to be mended. */
static const char family_text[] =
    "{\"id\":\"a-1\",\"details\":{\"status\":\"paused\",\"phase\":\"waitingForRepair\",\"waitingFor\":{\"reason\":"
    "\"waitingForRepair\",\"parts\":[{\"reason\":\"failed\",\"step\":\"charge\",\"error\":{\"name\":\"CardDeclined\","
    "\"message\":\"no money\"}},{\"reason\":\"waitingForChild\",\"workflowName\":\"parcel\",\"instanceId\":\"p-2\"}]}},"
    "\"meta\":{"
    "\"workflowName\":\"order\",\"runNumber\":2,\"createdAt\":\"2026-01-01T11:59:00.000Z\","
    "\"updatedAt\":\"2026-01-01T11:59:50.000Z\",\"startedAt\":\"2026-01-01T11:59:00.000Z\",\"completedAt\":null,"
    "\"parent\":{\"workflowName\":\"cart\",\"instanceId\":\"c-1\",\"runNumber\":3,\"attached\":false}},"
    "\"children\":{\"instances\":[{\"id\":\"p-2\",\"workflowName\":\"parcel\",\"details\":{\"status\":\"active\","
    "\"phase\":\"queued\"}},{\"id\":\"p-1\",\"workflowName\":\"parcel\",\"details\":{\"status\":\"complete\"}}],"
    "\"hasNextPage\":true}}";
static const char family_history_text[] =
    "{\"steps\":["
    "{\"name\":\"charge\",\"description\":\"at the bank\",\"type\":\"call\",\"status\":\"errored\",\"state\":\"failed\","
    "\"attempts\":1,\"maxAttempts\":1,\"error\":{\"name\":\"CardDeclined\",\"message\":\"no money\"},"
    "\"createdAt\":\"2026-01-01T11:59:15.000Z\",\"updatedAt\":\"2026-01-01T11:59:30.000Z\"},"
    "{\"name\":\"await: ship\",\"type\":\"child\",\"status\":\"waiting\",\"attempts\":0,\"maxAttempts\":null,"
    "\"wakeAt\":\"2027-01-01T11:59:15.000Z\",\"waitsFor\":{\"workflowName\":\"parcel\",\"instanceId\":\"p-2\"},"
    "\"createdAt\":\"2026-01-01T11:59:15.000Z\",\"updatedAt\":\"2026-01-01T11:59:15.000Z\"}]}";

static void draw(const char *name, size_t width, bool is_terminal, bool is_full)
{
    struct session session = session_of(width, is_terminal);
    session.screen.has_utf8 = strstr(name, "ascii") == NULL;
    bool is_family = strstr(name, "family") != NULL;
    const char *instance_json = is_family ? family_text : instance_text;
    const char *history_json = is_family ? family_history_text : history_text;
    json_t *instance = json_read(instance_json, strlen(instance_json));
    json_t *history = json_read(history_json, strlen(history_json));
    struct reference reference = { "order", "a-1" };
    assert_true(instance != NULL && history != NULL);
    view_print(&session, &session.out, &reference, instance, history, is_full);
    for (char *at = session.out.data; (at = strchr(at, '\033')) != NULL;)
        *at = '^';
    golden_compare("exact-get", name, text_string(&session.out));
    json_decref(instance);
    json_decref(history);
    session_clear(&session);
}

/* To the letter: nothing is put aside here. */
TEST(E_an_instance_is_drawn_with_bars_on_a_scale_and_what_it_waits_for)
{
    draw("exact-get-pipe", 0, false, false);
    draw("exact-get-80", 80, true, false);
    draw("exact-get-full", 0, false, true);
    draw("exact-get-family", 0, false, false);
    draw("exact-get-ascii", 60, false, false); /* in a locale without UTF-8 */
}

TEST(a_template_shows_values_as_it_says)
{
    static const char text[] =
        "{\"id\":\"a-1\",\"at\":\"2026-01-01T11:00:00.000Z\",\"size\":1,\"count\":2,\"none\":null,\"tags\":[\"a\",\"b\"],"
        "\"error\":{\"name\":\"Broken\",\"message\":\"it is\"}}";
    static const struct {
        const char *template, *filled; /* NULL: a value is not there */
    } list[] = {
        { "", "" },
        { "plain", "plain" },
        { "{id}/{size}!", "a-1/1!" },
        { "{id:json}", "\"a-1\"" },
        { "{at:time}, {at:ago}, {at:exact}", "11:00:00, 1 h ago, 11:00:00.000" },
        { "{size:run} and {count:run}", "1 run and 2 runs" },
        { "{error:error}", "Broken: it is" },
        { "{error.name}", "Broken" },
        { "{tags:list}", "a, b" },
        { "{none:json}", "null" },
        { "{none}", NULL },
        { "x {missing}", NULL },
        { "{id:time}", NULL },
        { "{id:error}", NULL },
    };
    struct pool pool = { NULL };
    json_t *value = json_read(text, strlen(text));
    for (size_t i = 0; i < LENGTH(list); i++) {
        const char *filled = template_fill(&pool, list[i].template, value, NOON);
        if (list[i].filled == NULL ? filled != NULL : filled == NULL || strcmp(filled, list[i].filled) != 0)
            fail_msg("\"%s\" is \"%s\"", list[i].template, filled != NULL ? filled : "nothing");
    }
    json_decref(value);
    pool_clear(&pool);
}

/* A list of verbs ends with one that always serves; a verb that prints a list says what is in it. */
static void check_verbs(const struct command *command)
{
    for (const struct verb *verb = command->verbs; verb != NULL; verb = verb->when != OPTION_NONE ? verb + 1 : NULL) {
        assert_non_null(verb->path);
        assert_true(verb->when == OPTION_NONE || command_takes(command, verb->when));
        for (const struct field *field = verb->fields; field != NULL && field->name != NULL; field++)
            assert_true(field->option == OPTION_NONE ? field->literal != NULL : command_takes(command, field->option));
        if (command->run == run_list)
            assert_true(verb->rows != NULL && verb->columns != NULL &&
                        (verb->ids != NULL || (command->formats & FORMAT_IDS) == 0));
        if (command->run == run_control || command->run == run_ask)
            assert_true(verb->done != NULL && (verb->idle != NULL) == (verb->is_idle != NULL));
    }
    if (command->run == run_list || command->run == run_control || command->run == run_ask)
        assert_non_null(command->verbs);
    for (const struct command *child = command->children; child != NULL && child->name != NULL; child++)
        check_verbs(child);
}

TEST(every_verb_says_what_its_command_needs)
{
    check_verbs(&root_command);
}

TEST(E_a_list_has_relative_times)
{
    static const char text[] =
        "[{\"id\":\"a-1\",\"workflowName\":\"order\",\"details\":{\"status\":\"active\",\"phase\":\"waitingForPause\"},"
        "\"createdAt\":\"2026-01-01T11:00:00.000Z\",\"updatedAt\":\"2026-01-01T11:59:59.900Z\"},"
        "{\"id\":\"with-a-long-id\",\"workflowName\":\"refund\",\"details\":{\"status\":\"errored\",\"phase\":\"errored\","
        "\"error\":{\"name\":\"Broken\",\"message\":\"it cannot work, and it never could, whatever one tries\"}},"
        "\"createdAt\":\"2025-12-01T11:00:00.000Z\",\"updatedAt\":\"2025-12-31T11:00:00.000Z\"}]";
    struct session session = session_of(80, false);
    json_t *list = json_read(text, strlen(text));
    table_show(&session, &session.out, instance_columns, list);
    assert_string_equal(text_string(&session.out),
                        "INSTANCE               STATUS           CREATED   CHANGED  RESULT\n"
                        "order/a-1              about to pause   1 h ago  just now\n"
                        "refund/with-a-long-id  errored         31 d ago   1 d ago  Broken: it cannot wo…\n");
    json_decref(list);
    session_clear(&session);
}

TEST(a_list_shows_versions_if_one_of_the_first_page_has_one)
{
    static const char text[] =
        "[{\"id\":\"a\",\"workflowName\":\"order\",\"details\":{\"status\":\"active\",\"phase\":\"queued\"},"
        "\"createdAt\":\"2026-01-01T11:00:00.000Z\",\"updatedAt\":\"2026-01-01T11:59:59.900Z\"},"
        "{\"id\":\"b\",\"workflowName\":\"order\",\"details\":{\"status\":\"active\",\"phase\":\"queued\"},"
        "\"version\":\"1.4\",\"createdAt\":\"2026-01-01T11:00:00.000Z\",\"updatedAt\":\"2026-01-01T11:59:59.900Z\"}]";
    struct session session = session_of(80, false);
    json_t *list = json_read(text, strlen(text));
    table_show(&session, &session.out, instance_columns, list);
    assert_string_equal(text_string(&session.out), "INSTANCE  STATUS  VERSION  CREATED   CHANGED  RESULT\n"
                                                   "order/a   queued           1 h ago  just now\n"
                                                   "order/b   queued  1.4      1 h ago  just now\n");
    json_decref(list);
    session_clear(&session);
}

static const struct {
    const char *step, *sentence, *cut_off;
} waits[] = {
    { "{\"type\":\"waitForEvent\",\"status\":\"waiting\",\"waitsFor\":{\"event\":\"approval\",\"until\":"
      "\"2026-01-01T15:02:00.000Z\"}}",
      "waiting for event \"approval\" until 15:02, 3 h left", "cut off while waiting for event \"approval\"" },
    { "{\"type\":\"sleep\",\"status\":\"waiting\",\"wakeAt\":\"2026-01-01T11:58:00.000Z\"}",
      "sleeping until 11:58, due since 2 min", "cut off while sleeping" },
    { "{\"type\":\"do\",\"name\":\"mail\",\"status\":\"waiting\",\"attempts\":2,\"maxAttempts\":6,\"nextRetryAt\":"
      "\"2026-01-01T12:00:05.000Z\",\"error\":{\"name\":\"Refused\",\"message\":\"\"}}",
      "trying \"mail\" again at 12:00:05, in 5 s: attempt 2 of 6 failed (Refused)",
      "cut off before it was tried again: attempt 2 of 6 failed (Refused)" },
    { "{\"type\":\"sleep\",\"status\":\"completed\"}", NULL, NULL },
    { "{\"type\":\"call\",\"name\":\"pay\",\"status\":\"waiting\",\"attempts\":1,\"maxAttempts\":6,"
      "\"waitsFor\":{\"function\":\"charge.card\"},\"wakeAt\":\"2026-01-01T15:02:00.000Z\"}",
      "waiting for a worker to carry out call \"pay\" (@charge.card)",
      "cut off while waiting for a worker to carry out call \"pay\" (@charge.card)" },
    { "{\"type\":\"call\",\"name\":\"pay\",\"status\":\"waiting\",\"attempts\":2,\"maxAttempts\":6,"
      "\"waitsFor\":{\"function\":\"charge\"}}",
      "waiting for a worker to carry out call \"pay\" (@charge), attempt 2 of 6",
      "cut off while waiting for a worker to carry out call \"pay\" (@charge), attempt 2 of 6" },
    { "{\"type\":\"call\",\"name\":\"pay\",\"status\":\"waiting\",\"attempts\":2,\"maxAttempts\":6,"
      "\"waitsFor\":{\"function\":\"charge\"},\"job\":{\"function\":\"charge\"}}",
      "waiting for a worker to carry out call \"pay\" (@charge), attempt 2 of 6: nobody has taken it yet",
      "cut off while waiting for a worker to carry out call \"pay\" (@charge), attempt 2 of 6" },
    { "{\"type\":\"call\",\"name\":\"pay\",\"status\":\"waiting\",\"attempts\":1,\"maxAttempts\":6,"
      "\"waitsFor\":{\"function\":\"charge\"},\"job\":{\"function\":\"charge\",\"takenBy\":\"outside\","
      "\"takenAt\":\"2026-01-01T11:59:57.000Z\"}}",
      "waiting for a worker to carry out call \"pay\" (@charge): a worker outside took it at 11:59:57, 3 s ago",
      "cut off while waiting for a worker to carry out call \"pay\" (@charge)" },
    { "{\"type\":\"call\",\"name\":\"pay\",\"status\":\"waiting\",\"attempts\":1,\"maxAttempts\":6,"
      "\"waitsFor\":{\"function\":\"charge\"},\"job\":{\"function\":\"charge\",\"takenBy\":\"runner\","
      "\"takenAt\":\"2026-01-01T11:59:57.000Z\"}}",
      "waiting for a worker to carry out call \"pay\" (@charge): a runner took it at 11:59:57, 3 s ago",
      "cut off while waiting for a worker to carry out call \"pay\" (@charge)" },
    { "{\"type\":\"call\",\"name\":\"pay\",\"status\":\"waiting\",\"attempts\":1,\"maxAttempts\":6,"
      "\"waitsFor\":{\"function\":\"charge\"},\"nextRetryAt\":\"2026-01-01T12:00:05.000Z\"}",
      "trying \"pay\" again at 12:00:05, in 5 s: attempt 1 of 6 failed",
      "cut off before it was tried again: attempt 1 of 6 failed" },
    { "{\"type\":\"child\",\"status\":\"waiting\",\"waitsFor\":{\"workflowName\":\"parcel\",\"instanceId\":\"p-1\"},\"wakeAt\":"
      "\"2027-01-01T12:00:00.000Z\"}",
      "waiting for child parcel/p-1", "cut off while waiting for child parcel/p-1" },
    { "{\"type\":\"deferred\",\"name\":\"approval\",\"status\":\"waiting\",\"wakeAt\":"
      "\"2026-01-01T15:02:00.000Z\",\"waitsFor\":{\"until\":\"2026-01-01T15:02:00.000Z\"}}",
      "waiting for deferred \"approval\" until 15:02, 3 h left", "cut off while waiting for deferred \"approval\"" },
    { "{\"type\":\"deferred\",\"name\":\"approval\",\"status\":\"waiting\",\"wakeAt\":"
      "\"2027-01-01T11:00:00.000Z\",\"waitsFor\":{\"until\":null}}",
      "waiting for deferred \"approval\", no timeout", "cut off while waiting for deferred \"approval\"" },
    /* Its token was asked for; the run does something else. */
    { "{\"type\":\"deferred\",\"name\":\"approval\",\"status\":\"waiting\",\"wakeAt\":null}", NULL,
      "never waited for" },
};

TEST(what_a_run_waits_for_is_said_with_until_when)
{
    struct pool pool = { NULL };
    for (size_t i = 0; i < LENGTH(waits); i++) {
        json_t *step = json_read(waits[i].step, strlen(waits[i].step));
        const char *sentence = step_waiting(&pool, step, NOON), *cut_off = step_cut_off(&pool, step);
        assert_true((sentence == NULL) == (waits[i].sentence == NULL) &&
                    (cut_off == NULL) == (waits[i].cut_off == NULL));
        if (sentence != NULL)
            assert_string_equal(sentence, waits[i].sentence);
        if (cut_off != NULL)
            assert_string_equal(cut_off, waits[i].cut_off);
        json_decref(step);
    }
    pool_clear(&pool);
}

TEST(an_error_says_its_name_once)
{
    static const struct {
        const char *error, *shown;
    } list[] = {
        { "{\"error\":{\"name\":\"Broken\",\"message\":\"no luck\"}}", "Broken: no luck" },
        { "{\"error\":{\"name\":\"Broken\",\"message\":\"Broken: no luck\"}}", "Broken: no luck" },
        { "{\"error\":{\"name\":\"Broken\",\"message\":\"Broken\"}}", "Broken" },
        { "{\"error\":{\"name\":\"Broken\",\"message\":\"Broken it is\"}}", "Broken: Broken it is" },
        { "{\"error\":{\"name\":\"Broken\",\"message\":\"\"}}", "Broken" },
        { "{}", "" },
    };
    struct pool pool = { NULL };
    for (size_t i = 0; i < LENGTH(list); i++) {
        json_t *value = json_read(list[i].error, strlen(list[i].error));
        assert_string_equal(error_show(&pool, value, "error"), list[i].shown);
        json_decref(value);
    }
    pool_clear(&pool);
}

TEST(a_line_with_colour_is_cut_by_what_is_seen_of_it)
{
    struct session session = session_of(5, true);
    screen_put_cut(&session.screen, &session.out, "ab\033[31mcdefg\033[0mh");
    assert_string_equal(text_string(&session.out), "ab\033[31mcde\033[0m");
    session_clear(&session);
}

int main(void)
{
    if (setenv("TZ", "UTC", 1) != 0 || setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 1;
    tzset();
    return test_run_all();
}
