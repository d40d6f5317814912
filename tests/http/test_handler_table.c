/* test_handler_table.c - the tables of table.h, sent to the handler itself. */
#include "asking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask_handler(void *user, pawl_scope *scope, const struct pawl_http_request *request,
                        struct pawl_http_response *out_response)
{
    struct table_world *world = user;
    assert_int_equal(pawl_http_answer(world->http, scope, request, out_response), PAWL_OK);
}

static struct table_world *open_world(void *user, const struct table_section *section)
{
    table_world_open(user, section);
    return user;
}

static void close_world(void *user)
{
    table_world_close(user);
}

/* A route that has no sample is left out of other tests; one that no table asks for has no answers that were looked at. */
static void every_route_has_a_sample_and_is_in_a_table(void **state)
{
    bool is_sampled[PW_HTTP_ROUTES_MAX] = { false }, is_asked[PW_HTTP_ROUTES_MAX] = { false };
    size_t section_count;
    const struct table_section *sections = table_sections(&section_count);
    pawl_scope *scope = pawl_scope_new();
    (void)state;
    for (size_t i = 0; i < route_sample_count; i++)
        is_sampled[route_of(route_samples[i].method, route_samples[i].target) - pw_http_routes] = true;
    for (size_t i = 0; i < section_count; i++) {
        for (size_t k = 0; k < sections[i].count; k++) {
            const struct table_case *entry = &sections[i].cases[k];
            const struct pw_http_route *route =
                entry->is_bare ? NULL : route_of(entry->method, pawl_scope_format(scope, "/api%s", entry->target));
            if (route != NULL)
                is_asked[route - pw_http_routes] = true;
        }
    }
    for (size_t i = 0; i < pw_http_route_count; i++)
        if (!is_sampled[i] || !is_asked[i])
            fail_msg("%s %s is in no %s", pw_http_routes[i].method, pw_http_routes[i].pattern,
                     is_asked[i] ? "sample" : "table");
    pawl_scope_free(scope);
}

static void no_damaged_request_is_a_500(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct table_world world;
        const struct table_sender sender = { .send = ask_handler, .user = &world };
        table_world_open(&world, NULL);
        table_run_damaged(&world, &sender, seed, 3000);
        table_world_close(&world);
    }
}

/* A16: 1 MiB and 128 levels, of the payload itself, whatever stands around it in the body. */
static void payloads_are_taken_up_to_their_limits(void **state)
{
    (void)state;
    enum { MIB = 1024 * 1024, LEVELS = 128 };
    static const char before[] = "{\"instances\":[{\"id\":\"x\",\"params\":", after[] = "}]}";
    const size_t start = sizeof before - 1;
    char *body = malloc(MIB + 100);
    struct table_world world;
    struct pawl_instance instance;
    assert_non_null(body);
    for (int round = 0; round < 2; round++) {
        struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
        struct pawl_http_response response;
        size_t size = round == 0 ? (size_t)MIB : 2 * LEVELS;
        pawl_scope *scope = pawl_scope_new();
        table_world_open(&world, NULL);
        memcpy(body, before, start);
        memset(body + start, round == 0 ? 'a' : '[', size);
        if (round == 0)
            body[start] = body[start + size - 1] = '"';
        else
            memset(body + start + LEVELS, ']', LEVELS);
        memcpy(body + start + size, after, sizeof after);
        request.method = "POST";
        request.target = "/api/workflows/echo/instances/batch";
        request.body = body;
        request.body_size = strlen(body);
        ask_handler(&world, scope, &request, &response);
        assert_int_equal(response.status, 200);
        assert_int_equal(pawl_world_get(world.world, "echo", "x", &instance, NULL), PAWL_OK);
        assert_int_equal(strlen(instance.params_json), size);
        assert_memory_equal(instance.params_json, body + start, size);
        pawl_scope_free(scope);
        table_world_close(&world);
    }
    free(body);
}

int main(void)
{
    struct table_world world;
    const struct table_sender sender = { ask_handler, &world, false, open_world, close_world };
    const struct CMUnitTest more[] = {
        cmocka_unit_test(every_route_has_a_sample_and_is_in_a_table),
        cmocka_unit_test(no_damaged_request_is_a_500),
        cmocka_unit_test(payloads_are_taken_up_to_their_limits),
    };
    return table_test("the handler and its tables", &sender, more, sizeof more / sizeof more[0]);
}
