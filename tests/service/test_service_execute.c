/* Execution by key: who calls again gets what the first call began (contract F1, F6), and inline workflows (G3). */
#include "kit/service_world.h"

#include "base/sha256.h"

static struct pawl_instance execute(struct world *world, const char *key, const char *params, bool discard)
{
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.key = key;
    options.params_json = params;
    options.discard = discard;
    options.timeout_ms = 1;
    assert_int_equal(pawl_execute(world->engine, world->scope, "order", &options, &instance, &world->error), PAWL_OK);
    return instance;
}

/* ---- Ids ----------------------------------------------------------------------------------------------------------- */

/* The examples that NIST gives with FIPS 180-4, and one of several blocks. */
TEST_OF(world, the_hash_is_the_standards)
{
    static const struct {
        const char *text;
        size_t times;
        unsigned char begins[4], ends[4];
    } examples[] = {
        { "", 1, { 0xe3, 0xb0, 0xc4, 0x42 }, { 0x78, 0x52, 0xb8, 0x55 } },
        { "abc", 1, { 0xba, 0x78, 0x16, 0xbf }, { 0xf2, 0x00, 0x15, 0xad } },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          1,
          { 0x24, 0x8d, 0x6a, 0x61 },
          { 0x19, 0xdb, 0x06, 0xc1 } },
        { "aaaaaaaaaa", 100000, { 0xcd, 0xc7, 0x6e, 0x5c }, { 0xc7, 0x11, 0x2c, 0xd0 } },
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        struct pw_sha256 hash;
        unsigned char digest[PW_SHA256_SIZE];
        pw_sha256_init(&hash);
        for (size_t n = 0; n < examples[i].times; n++)
            pw_sha256_add(&hash, examples[i].text, strlen(examples[i].text));
        pw_sha256_end(&hash, digest);
        assert_memory_equal(digest, examples[i].begins, 4);
        assert_memory_equal(digest + PW_SHA256_SIZE - 4, examples[i].ends, 4);
    }
}

/* The same for ever: another version must find what this one began. */
TEST_OF(world, an_id_follows_from_workflow_and_key)
{
    char id[PAWL_EXECUTION_ID_SIZE], other[PAWL_EXECUTION_ID_SIZE], apart[PAWL_EXECUTION_ID_SIZE];
    assert_int_equal(pawl_execution_id("order", "42", id, &world->error), PAWL_OK);
    assert_string_equal(id, "48fa1cd54bd6e241831f025bcce516dc");
    assert_int_equal(pawl_execution_id("other", "42", other, &world->error), PAWL_OK);
    assert_int_equal(pawl_execution_id("order4", "2", apart, &world->error), PAWL_OK);
    assert_string_not_equal(id, other);
    assert_string_not_equal(id, apart);
}

TEST_OF(world, a_key_has_1_to_1024_bytes)
{
    char id[PAWL_EXECUTION_ID_SIZE], key[1026];
    memset(key, 'k', sizeof key - 1);
    key[1025] = '\0';

    assert_refused(world, pawl_execution_id("order", key, id, &world->error), PAWL_INVALID, "1025", NULL);
    key[1024] = '\0';
    assert_int_equal(pawl_execution_id("order", key, id, &world->error), PAWL_OK);
    assert_refused(world, pawl_execution_id("order", "", id, &world->error), PAWL_INVALID, "key", NULL);
    assert_refused(world, pawl_execution_id("order", NULL, id, &world->error), PAWL_INVALID, "key", NULL);
    assert_refused(world, pawl_execution_id(NULL, "k", id, &world->error), PAWL_INVALID, "workflow", NULL);
    assert_refused(world, pawl_execution_id("order", "k", NULL, &world->error), PAWL_INVALID, "out_id", NULL);
}

/* ---- Executing ------------------------------------------------------------------------------------------------------- */

TEST_OF(world, the_first_call_creates_and_the_next_ones_attach)
{
    struct pawl_instance first = execute(world, "k", "[1]", true);
    assert_int_equal(first.status, PAWL_ACTIVE);
    struct pawl_instance second = execute(world, "k", "[2]", true);
    assert_string_equal(second.id, first.id);
    assert_string_equal(second.params_json, "[1]");
    assert_int_equal(world_list_count(world), 1);

    world_finish(world, first.id, PW_OUTCOME_COMPLETE);
    struct pawl_instance third = execute(world, "k", NULL, false);
    assert_int_equal(third.status, PAWL_COMPLETE);
    assert_string_equal(third.output_json, "[1,2]");
    assert_string_not_equal(execute(world, "l", NULL, true).id, first.id);
}

TEST_OF(world, a_wait_that_is_over_says_how_it_stands)
{
    assert_int_equal(execute(world, "k", NULL, false).status, PAWL_ACTIVE);
}

TEST_OF(world, without_a_key_each_call_begins_another)
{
    struct pawl_instance first = execute(world, NULL, NULL, true), second = execute(world, NULL, NULL, true);
    assert_string_not_equal(first.id, second.id);
    assert_int_equal(world_list_count(world), 2);
}

TEST_OF(world, what_is_known_of_an_execution_is_polled_by_its_key)
{
    struct pawl_instance instance;
    assert_refused(world, pawl_poll(world->engine, world->scope, "order", "k", &instance, &world->error),
                   PAWL_INSTANCE_NOT_FOUND, NULL);
    struct pawl_instance first = execute(world, "k", NULL, true);
    world_finish(world, first.id, PW_OUTCOME_ERRORED);

    assert_int_equal(pawl_poll(world->engine, world->scope, "order", "k", &instance, &world->error), PAWL_OK);
    assert_int_equal(instance.status, PAWL_ERRORED);
    assert_string_equal(instance.error_name, "CardDeclined");
    assert_refused(world, pawl_poll(world->engine, world->scope, "order", "", &instance, &world->error), PAWL_INVALID,
                   "key", NULL);
    assert_refused(world, pawl_poll(world->engine, world->scope, "none", "k", &instance, &world->error),
                   PAWL_WORKFLOW_NOT_FOUND, NULL);
}

TEST_OF(world, wrong_executions_are_refused)
{
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.key = "";
    assert_refused(world, pawl_execute(world->engine, world->scope, "order", &options, &instance, &world->error),
                   PAWL_INVALID, "key", NULL);
    options.key = "k";
    options.timeout_ms = -1;
    assert_refused(world, pawl_execute(world->engine, world->scope, "order", &options, &instance, &world->error),
                   PAWL_INVALID, "timeout", NULL);
    options.timeout_ms = 0;
    options.params_json = "{";
    assert_refused(world, pawl_execute(world->engine, world->scope, "order", &options, &instance, &world->error),
                   PAWL_INVALID_JSON, NULL);
    assert_refused(world, pawl_execute(world->engine, world->scope, "none", &options, &instance, &world->error),
                   PAWL_WORKFLOW_NOT_FOUND, NULL);
    assert_refused(world, pawl_execute(world->engine, NULL, "order", &options, &instance, &world->error), PAWL_INVALID,
                   "scope", NULL);
    assert_refused(world, pawl_execute(world->engine, world->scope, "order", &options, NULL, &world->error),
                   PAWL_INVALID, "out_instance", NULL);
    assert_int_equal(world_list_count(world), 0);
}

/* ---- Inline ---------------------------------------------------------------------------------------------------------- */

struct carried {
    int count;
    char id[101];
};

static pawl_status carry_out(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                             const char *params_json, void *user, struct pawl_instance *out_instance,
                             struct pawl_error *error)
{
    struct carried *carried = user;
    assert_non_null(engine);
    (void)error;
    carried->count++;
    snprintf(carried->id, sizeof carried->id, "%s", id);
    *out_instance = (struct pawl_instance){ .workflow = workflow, .status = PAWL_COMPLETE };
    out_instance->output_json = pawl_scope_format(scope, "[%s]", params_json);
    return PAWL_OK;
}

TEST_OF(world, an_inline_workflow_is_carried_out_by_its_caller_and_has_no_instances)
{
    struct carried carried = { 0, "" };
    static const char *const permissions[] = { "run:quick" };
    const struct pawl_definition quick = { .struct_size = sizeof quick,
                                           .name = "quick",
                                           .run_inline = carry_out,
                                           .user = &carried,
                                           .permissions = permissions,
                                           .permission_count = 1 };
    struct pawl_execute_options options = PAWL_EXECUTE_OPTIONS_INIT;
    struct pawl_instance instance;
    struct pawl_instance *instances;
    const struct pawl_workflow_info *workflows;
    size_t count;
    char id[PAWL_EXECUTION_ID_SIZE];
    assert_int_equal(pawl_define(world->engine, &quick, &world->error), PAWL_OK);

    options.key = "k";
    options.params_json = "7";
    assert_int_equal(pawl_execute(world->engine, world->scope, "quick", &options, &instance, &world->error), PAWL_OK);
    assert_string_equal(instance.output_json, "[7]");
    assert_int_equal(carried.count, 1);
    assert_int_equal(pawl_execution_id("quick", "k", id, NULL), PAWL_OK);
    assert_string_equal(carried.id, id);

    const struct pawl_batch_item item = { .id = "a" };
    assert_refused(world, pawl_create(world->engine, world->scope, "quick", NULL, &instance, &world->error),
                   PAWL_INVALID, "pawl_execute", NULL);
    assert_refused(world,
                   pawl_create_batch(world->engine, world->scope, "quick", &item, 1, &instances, &count, &world->error),
                   PAWL_INVALID, "pawl_execute", NULL);
    assert_int_equal(pawl_list_workflows(world->engine, world->scope, &workflows, &count), PAWL_OK);
    assert_int_equal(count, 3);
    assert_string_equal(workflows[2].name, "quick");
    assert_true(workflows[2].is_inline);
    assert_int_equal(workflows[2].permission_count, 1);
    assert_string_equal(workflows[2].permissions[0], "run:quick");
    assert_false(workflows[0].is_inline);
}
