/* test_metrics.c - GET /metrics: the whole of it keeps to the exposition format, and the figures are the right ones. */
#include "asking.h"
#include "kit/test.h"
#include "engine/engine.h"
#include "http/metrics.h"
#include "kit/test.h"
#include "pawl/hooks.h"
#include "pawl/http.h"
#include "pawl/pawl.h"
#include "pawl/testing.h"
#include "testing/forward.h"

enum { LINES_MAX = 4096, NAME_MAX_SIZE = 128 };

/* A sample as it stands: "name{labels}", and its value. */
struct sample {
    char series[512];
    char name[NAME_MAX_SIZE];
    char le[32]; /* "" without one */
    double value;
};

struct exposition {
    struct sample samples[LINES_MAX];
    size_t sample_count;
    char families[256][NAME_MAX_SIZE];
    size_t family_count;
    char type[16];   /* of the newest family */
    bool has_sample; /* of the newest family */
};

struct fixture {
    pawl_world *world;
    pawl_engine *engine;
    pawl_http *http;
    pawl_scope *scope;
    struct pawl_error error;
    struct exposition *exposition;
};

#define ok(call) assert_int_equal((call), PAWL_OK)

/* ---- A strict reader of the format ------------------------------------------------------------------------------- */

static const char *read_name(const char *at, char out_name[NAME_MAX_SIZE])
{
    size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    assert_true(size > 0 && size < NAME_MAX_SIZE);
    memcpy(out_name, at, size);
    out_name[size] = '\0';
    return at + size;
}

static const char *expect(const char *at, const char *text)
{
    if (strncmp(at, text, strlen(text)) != 0)
        fail_msg("\"%s\" is expected at \"%.60s\"", text, at);
    return at + strlen(text);
}

/* HELP, then TYPE, of a family that was not seen before. */
static void read_family(struct exposition *exposition, const char *help, const char *type)
{
    char name[NAME_MAX_SIZE], again[NAME_MAX_SIZE];
    const char *at = read_name(expect(help, "# HELP "), name);
    assert_true(*at == ' ' && at[1] != '\0');
    at = expect(read_name(expect(type, "# TYPE "), again), " ");
    assert_string_equal(name, again);
    assert_true(strcmp(at, "counter") == 0 || strcmp(at, "gauge") == 0 || strcmp(at, "histogram") == 0);
    if (strcmp(at, "counter") == 0)
        assert_string_equal(name + strlen(name) - strlen("_total"), "_total");
    for (size_t i = 0; i < exposition->family_count; i++)
        assert_string_not_equal(exposition->families[i], name);
    strcpy(exposition->type, at);
    strcpy(exposition->families[exposition->family_count++], name);
}

/* The labels' names differ; a value has no bare quote, backslash or line break. */
static const char *read_labels(const char *at, struct sample *sample)
{
    char names[8][NAME_MAX_SIZE];
    size_t count = 0;
    do {
        at = expect(read_name(at + 1, names[count]), "=\"");
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(names[i], names[count]);
        const char *value = at;
        while (*at != '"') {
            assert_true(*at != '\0');
            if (*at == '\\')
                assert_non_null(strchr("\\\"n", *++at));
            at++;
        }
        if (strcmp(names[count], "le") == 0)
            (void)snprintf(sample->le, sizeof sample->le, "%.*s", (int)(at - value), value);
        at++;
        count++;
    } while (*at == ',');
    return expect(at, "}");
}

/* Figures are never negative here, and are written without an exponent. */
static double read_value(const char *at)
{
    size_t whole = strspn(at, "0123456789");
    assert_true(whole > 0);
    const char *rest = at + whole;
    if (*rest == '.') {
        size_t digits = strspn(rest + 1, "0123456789");
        assert_true(digits > 0);
        rest += 1 + digits;
    }
    assert_string_equal(rest, "");
    return strtod(at, NULL);
}

static void check_belongs(const struct exposition *exposition, const struct sample *sample)
{
    const char *family = exposition->families[exposition->family_count - 1];
    const char *suffix = expect(sample->name, family);
    bool is_bucket = strcmp(suffix, "_bucket") == 0;
    if (strcmp(exposition->type, "histogram") == 0)
        assert_true(is_bucket || strcmp(suffix, "_sum") == 0 || strcmp(suffix, "_count") == 0);
    else
        assert_string_equal(suffix, "");
    assert_int_equal(is_bucket, sample->le[0] != '\0');
}

static void read_sample(struct exposition *exposition, const char *line)
{
    assert_true(exposition->family_count > 0 && exposition->sample_count < LINES_MAX);
    struct sample *sample = &exposition->samples[exposition->sample_count];
    const char *at = read_name(line, sample->name);
    if (*at == '{')
        at = read_labels(at, sample);
    assert_true((size_t)(at - line) < sizeof sample->series);
    (void)snprintf(sample->series, sizeof sample->series, "%.*s", (int)(at - line), line);
    sample->value = read_value(expect(at, " "));
    for (size_t i = 0; i < exposition->sample_count; i++)
        assert_string_not_equal(exposition->samples[i].series, sample->series);
    check_belongs(exposition, sample);
    exposition->sample_count++;
}

/* A histogram: buckets with growing limits and counts up to +Inf, then the sum, then the count.  Returns how many
 * samples those were. */
static size_t check_histogram(const struct sample *samples, size_t count)
{
    size_t i = 0;
    for (; i < count && strcmp(samples[i].le, "+Inf") != 0; i++) {
        assert_true(samples[i].le[0] != '\0');
        if (i > 0) {
            assert_true(strtod(samples[i].le, NULL) > strtod(samples[i - 1].le, NULL));
            assert_true(samples[i].value >= samples[i - 1].value);
        }
    }
    assert_true(i + 2 < count && i > 0);
    assert_true(samples[i].value >= samples[i - 1].value);
    assert_non_null(strstr(samples[i + 1].name, "_sum"));
    assert_non_null(strstr(samples[i + 2].name, "_count"));
    assert_true(samples[i + 2].value == samples[i].value);
    return i + 3;
}

static void check_histograms(const struct exposition *exposition)
{
    size_t found = 0;
    for (size_t i = 0; i < exposition->sample_count;) {
        bool is_histogram = strstr(exposition->samples[i].name, "_bucket") != NULL;
        found += is_histogram;
        i += is_histogram ? check_histogram(&exposition->samples[i], exposition->sample_count - i) : 1;
    }
    assert_true(found > 0);
}

static void read_exposition(struct exposition *exposition, const char *text)
{
    char *copy = strdup(text), *line = copy, *end;
    assert_non_null(copy);
    memset(exposition, 0, sizeof *exposition);
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        if (*line != '#') {
            read_sample(exposition, line);
            continue;
        }
        char *help = line;
        line = end + 1;
        end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        read_family(exposition, help, line);
    }
    assert_string_equal(line, ""); /* the last line ends, too */
    free(copy);
    check_histograms(exposition);
}

/* ---- The fixture ------------------------------------------------------------------------------------------------- */

BODY(body)
{
    return pawl_step_attempt(step) == 1 ? pawl_fail(step, "Broken", "once") : PAWL_OK;
}

static pawl_status run(pawl_run *own, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options options = { .retries = 1, .delay = "1 s" };
    (void)params;
    pawl_status status = pawl_do(own, "work", &options, body, NULL, out_result);
    return status == PAWL_OK ? pawl_sleep(own, "nap", "1 minute") : status;
}

static void open_handler(struct fixture *fixture, pawl_engine *engine, pawl_runner *runner)
{
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    options.runner = runner;
    ok(pawl_http_new(engine, &options, &fixture->http, &fixture->error));
}

static int set_up(void **state)
{
    static const struct pawl_workflow workflow = { .name = "order", .run = run };
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->exposition = malloc(sizeof *fixture->exposition);
    fixture->scope = pawl_scope_new();
    assert_true(fixture->exposition != NULL && fixture->scope != NULL);
    ok(pawl_world_open(NULL, &fixture->world, &fixture->error));
    fixture->engine = pawl_world_engine(fixture->world);
    ok(pawl_register(fixture->engine, &workflow, &fixture->error));
    open_handler(fixture, fixture->engine, pawl_world_runner(fixture->world));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    pawl_http_free(fixture->http);
    pawl_world_close(fixture->world);
    pawl_scope_free(fixture->scope);
    free(fixture->exposition);
    free(fixture);
    return 0;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

static struct pawl_http_response ask(struct fixture *fixture, const char *method, const char *target)
{
    return answer_of(fixture->http, fixture->scope, method, target, NULL);
}

static void scrape(struct fixture *fixture)
{
    struct pawl_http_response response = ask(fixture, "GET", "/api/metrics");
    assert_int_equal(response.status, 200);
    assert_int_equal(strlen(response.body), response.body_size);
    read_exposition(fixture->exposition, response.body);
}

/* NULL: there is none. */
static const struct sample *find(const struct fixture *fixture, const char *series)
{
    const struct exposition *exposition = fixture->exposition;
    for (size_t i = 0; i < exposition->sample_count; i++)
        if (strcmp(exposition->samples[i].series, series) == 0)
            return &exposition->samples[i];
    return NULL;
}

static void assert_sample(const struct fixture *fixture, const char *series, double value)
{
    const struct sample *sample = find(fixture, series);
    if (sample == NULL || sample->value != value)
        fail_msg("%s is %g, not %g", series, sample != NULL ? sample->value : -1, value);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

TEST_OF(fixture, a_fresh_engine_tells_zeros_in_the_right_format)
{
    scrape(fixture);
    assert_sample(fixture, "pawl_runs_created_total", 0);
    assert_sample(fixture, "pawl_runs_finished_total{status=\"errored\"}", 0);
    assert_sample(fixture, "pawl_run_duration_seconds_count", 0);
    assert_sample(fixture, "pawl_queue_depth", 0);
    assert_sample(fixture, "pawl_queue_oldest_age_seconds", 0);
    assert_sample(fixture, "pawl_store_up", 1);
    assert_sample(fixture, "pawl_runners", 0);
    assert_sample(fixture, "pawl_http_streams", 0);
    assert_sample(fixture, "pawl_build_info{version=\"" PAWL_VERSION "\"}", 1);
    assert_null(find(fixture, "pawl_http_requests_total{method=\"GET\",route=\"/workflows\",status=\"2xx\"}"));
}

TEST_OF(fixture, the_content_type_names_the_format)
{
    struct pawl_http_response response = ask(fixture, "GET", "/api/metrics");
    const char *type = NULL;
    for (size_t i = 0; i < response.header_count; i++)
        if (strcmp(response.headers[i].name, "Content-Type") == 0)
            type = response.headers[i].value;
    assert_non_null(type);
    assert_string_equal(type, PW_HTTP_METRICS_TYPE);
}

TEST_OF(fixture, runs_steps_and_attempts_are_told)
{
    ok(pawl_world_create(fixture->world, "order", "a", NULL, &fixture->error));
    ok(pawl_world_create(fixture->world, "order", "b", NULL, &fixture->error));
    ok(pawl_terminate(fixture->engine, "order", "b", &fixture->error));
    ok(pawl_world_send_event(fixture->world, "order", "a", "go", NULL, &fixture->error));
    ok(pawl_world_run_to_end(fixture->world, &fixture->error));

    scrape(fixture);

    assert_sample(fixture, "pawl_runs_created_total", 2);
    assert_sample(fixture, "pawl_runners", 1); /* who ticked */
    assert_sample(fixture, "pawl_runs_finished_total{status=\"complete\"}", 1);
    assert_sample(fixture, "pawl_runs_finished_total{status=\"terminated\"}", 1);
    assert_sample(fixture, "pawl_steps_finished_total{status=\"completed\"}", 2);
    assert_sample(fixture, "pawl_step_attempts_failed_total", 1);
    assert_sample(fixture, "pawl_step_body_duration_seconds_count", 2);
    assert_sample(fixture, "pawl_events_sent_total", 1);
    assert_sample(fixture, "pawl_run_duration_seconds_sum", 61);
    assert_sample(fixture, "pawl_run_duration_seconds_bucket{le=\"60\"}", 0);
    assert_sample(fixture, "pawl_run_duration_seconds_bucket{le=\"300\"}", 1);
    assert_true(find(fixture, "pawl_commits_total{result=\"done\"}")->value > 0);
    assert_sample(fixture, "pawl_commits_total{result=\"failed\"}", 0);
    assert_true(find(fixture, "pawl_commit_duration_seconds_sum")->value > 0);
}

TEST_OF(fixture, the_queue_is_told_with_the_age_of_its_oldest)
{
    ok(pawl_world_create(fixture->world, "order", "a", NULL, &fixture->error));
    pawl_world_jump_ms(fixture->world, 2500);
    ok(pawl_world_create(fixture->world, "order", "b", NULL, &fixture->error));
    pawl_world_jump_ms(fixture->world, 1000);
    scrape(fixture);
    assert_sample(fixture, "pawl_queue_depth", 2);
    assert_sample(fixture, "pawl_queue_oldest_age_seconds", 3.5);
    assert_sample(fixture, "pawl_instances{status=\"active\"}", 2);

    ok(pawl_world_run_until_idle(fixture->world, &fixture->error));
    ok(pawl_pause(fixture->engine, "order", "b", &fixture->error));
    scrape(fixture);
    assert_sample(fixture, "pawl_queue_depth", 0);
    assert_sample(fixture, "pawl_instances{status=\"active\"}", 0);
    assert_sample(fixture, "pawl_instances{status=\"waiting\"}", 1);
    assert_sample(fixture, "pawl_instances{status=\"paused\"}", 1);
}

TEST_OF(fixture, deliveries_of_hooks_are_told)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = "billing";
    hook.events = PAWL_HOOK_ENQUEUED;
    ok(pawl_hook_register(fixture->engine, &hook, &fixture->error));
    ok(pawl_world_create(fixture->world, "order", "a", NULL, &fixture->error));
    scrape(fixture);
    assert_sample(fixture, "pawl_hook_deliveries{status=\"pending\"}", 1);
    assert_sample(fixture, "pawl_hook_deliveries{status=\"failed\"}", 0);
}

TEST_OF(fixture, requests_are_told_by_method_route_and_class_of_status)
{
    for (int i = 0; i < 3; i++)
        (void)ask(fixture, "GET", "/api/workflows");
    (void)ask(fixture, "GET", "/api/workflows/order/instances/none");
    (void)ask(fixture, "GET", "/api/nothing/here");

    scrape(fixture);

    assert_sample(fixture, "pawl_http_requests_total{method=\"GET\",route=\"/workflows\",status=\"2xx\"}", 3);
    assert_sample(fixture, "pawl_http_request_duration_seconds_count{method=\"GET\",route=\"/workflows\"}", 3);
    assert_sample(
        fixture, "pawl_http_requests_total{method=\"GET\",route=\"/workflows/:workflow/instances/:id\",status=\"4xx\"}",
        1);
    assert_sample(fixture, "pawl_http_requests_total{method=\"\",route=\"other\",status=\"4xx\"}", 1);
}

TEST_OF(fixture, the_runner_is_told_where_there_is_one)
{
    ok(pawl_world_create(fixture->world, "order", "a", NULL, &fixture->error));
    ok(pawl_world_run_to_end(fixture->world, &fixture->error));
    scrape(fixture);
    assert_true(find(fixture, "pawl_runner_turns_total")->value > 0);
    assert_sample(fixture, "pawl_runner_in_flight", 0);
    assert_non_null(find(fixture, "pawl_runner_cached_bytes"));

    pawl_http_free(fixture->http);
    open_handler(fixture, fixture->engine, NULL);
    scrape(fixture);
    assert_null(find(fixture, "pawl_runner_in_flight"));
    assert_sample(fixture, "pawl_runs_created_total", 1);
}

static pawl_status count_nothing(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                                 struct pw_found *out_found, struct pawl_error *error)
{
    struct pw_store *inner = ((struct pw_forward *)store)->inner;
    if (asked->kind == PW_READ_TASK_COUNTS)
        return PAWL_STORE_UNAVAILABLE;
    return inner->ops->read(inner, asked, arena, out_found, error);
}

static struct pw_store *wrap(struct pw_store *inner, void *user)
{
    struct pw_forward *forward = user;
    pw_forward_init(forward, inner);
    forward->ops.read = count_nothing;
    return &forward->store;
}

TEST_OF(fixture, metrics_are_there_while_the_store_is_not)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pw_forward forward;
    pawl_engine *engine;
    options.store_url = "sqlite::memory:";
    ok(pw_engine_open(&options, wrap, &forward, &engine, &fixture->error));
    pawl_http_free(fixture->http);
    open_handler(fixture, engine, NULL);

    scrape(fixture);

    assert_sample(fixture, "pawl_store_up", 0);
    assert_null(find(fixture, "pawl_queue_depth"));
    assert_sample(fixture, "pawl_runs_created_total", 0);
    pawl_http_free(fixture->http);
    fixture->http = NULL;
    pawl_close(engine);
}

TEST(a_labels_value_is_escaped)
{
    struct pw_buffer text = { 0 };
    pw_http_metrics_label(&text, '{', "path", "C:\\a \"b\"\nc");
    assert_false(text.failed);
    assert_string_equal(text.data, "{path=\"C:\\\\a \\\"b\\\"\\nc\"");
    pw_buffer_clear(&text);
}
