/* test_handler_table.c - the tables of table.h, sent to the handler itself. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask_handler(void *user, pawl_scope *scope, const struct pawl_http_request *request,
                        struct pawl_http_response *out_response)
{
    struct table_world *world = user;
    assert_int_equal(pawl_http_answer(world->http, scope, request, out_response), PAWL_OK);
}

static void every_answer_of_a_section_is_as_its_table_says(void **state)
{
    const struct table_section *section = *state;
    struct table_world world;
    const struct table_sender sender = { ask_handler, &world, false };
    assert_true(section->count > 0);
    table_world_open(&world, section);
    table_run(section, &world, &sender);
    table_world_close(&world);
}

static void every_story_goes_as_it_is_told(void **state)
{
    const struct table_story *story = *state;
    struct table_world world;
    const struct table_sender sender = { ask_handler, &world, false };
    table_world_open(&world, NULL);
    story->tell(&world, &sender);
    table_world_close(&world);
}

static void no_malformed_request_is_more_than_a_4xx(void **state)
{
    (void)state;
    struct table_world world;
    const struct table_sender sender = { ask_handler, &world, false };
    table_world_open(&world, NULL);
    assert_true(table_run_malformed(&world, &sender) > 1000);
    table_world_close(&world);
}

static void no_damaged_request_is_a_500(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct table_world world;
        const struct table_sender sender = { ask_handler, &world, false };
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

enum { TESTS_MAX = 64 };

int main(void)
{
    struct CMUnitTest tests[TESTS_MAX];
    char names[TESTS_MAX][96];
    size_t count = 0;
    for (; count < table_section_count; count++) {
        snprintf(names[count], sizeof names[count], "answers: %s", table_sections[count]->name);
        tests[count] = (struct CMUnitTest){ names[count], every_answer_of_a_section_is_as_its_table_says, NULL, NULL,
                                            (void *)table_sections[count] };
    }
    for (size_t i = 0; i < table_story_count; i++)
        tests[count++] = (struct CMUnitTest){ table_stories[i].name, every_story_goes_as_it_is_told, NULL, NULL,
                                              (void *)(uintptr_t)&table_stories[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(no_malformed_request_is_more_than_a_4xx);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(no_damaged_request_is_a_500);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(payloads_are_taken_up_to_their_limits);
    return _cmocka_run_group_tests("the handler and its tables", tests, count, NULL, NULL);
}
