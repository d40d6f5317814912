/* The version of a workflow's code: recorded with each run where it begins, shown, and listed by. */
#include "kit/service_world.h"

#include "pawl/workflow.h"

static const char *const long_version = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

/* From now on "order" is this version, as after a deployment. */
static void deploy(struct world *world, const char *version)
{
    pw_engine_find(world->engine, pw_text_of("order"))->terms.version = pw_text_of(version);
}

static void assert_version(const struct pawl_instance *instance, const char *expected)
{
    assert_int_equal(instance->version == NULL, expected == NULL);
    if (expected != NULL)
        assert_string_equal(instance->version, expected);
}

static pawl_status try_list(struct world *world, const struct pawl_list_options *options,
                            struct pawl_instance_page *out_page)
{
    return pawl_list(world->engine, world->scope, "order", options, out_page, &world->error);
}

/* The ids of a list, "a b ". */
static const char *listed(struct world *world, const char *version, enum pawl_order order)
{
    static char ids[256];
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    size_t used = 0;
    options.version = version;
    options.order = order;
    assert_int_equal(try_list(world, &options, &page), PAWL_OK);
    ids[0] = '\0';
    for (size_t i = 0; i < page.count; i++)
        used += (size_t)snprintf(ids + used, sizeof ids - used, "%s ", page.instances[i].id);
    return ids;
}

/* ---- Registering ------------------------------------------------------------------------------------------------------ */

WORKFLOW(run_nothing)
{
    return PAWL_OK;
}

TEST_OF(world, a_version_has_1_to_64_letters_digits_dots_dashes_and_underscores)
{
    static const char *const wrong[] = { "", "1 0", "v\"1", "a/b", "\xc3\xa9", "1.0\n" };
    char longer[66];
    struct pawl_definition definition = { .struct_size = sizeof definition, .name = "bad" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        definition.version = wrong[i];
        assert_refused(world, pawl_define(world->engine, &definition, &world->error), PAWL_INVALID, "workflow \"bad\"",
                       "is not a version", "1 to 64", NULL);
    }
    (void)snprintf(longer, sizeof longer, "%s-", long_version);
    definition.version = longer;
    assert_refused(world, pawl_define(world->engine, &definition, &world->error), PAWL_INVALID, "is not a version",
                   NULL);
    definition.name = "good";
    definition.version = long_version;
    assert_int_equal(pawl_define(world->engine, &definition, &world->error), PAWL_OK);
    struct pawl_workflow_info info;
    assert_int_equal(pawl_find_workflow(world->engine, "good", &info, &world->error), PAWL_OK);
    assert_string_equal(info.version, long_version);
    assert_int_equal(pawl_find_workflow(world->engine, "order", &info, &world->error), PAWL_OK);
    assert_null(info.version);
}

TEST_OF(world, a_function_has_no_version)
{
    const struct pawl_definition function = {
        .struct_size = sizeof function, .name = "charge", .is_function = true, .version = "1"
    };
    assert_refused(world, pawl_define(world->engine, &function, &world->error), PAWL_INVALID,
                   "function \"charge\" cannot have a version", NULL);
}

TEST_OF(world, a_workflow_in_C_gives_its_version)
{
    const struct pawl_workflow workflow = { .name = "authored", .run = run_nothing, .version = "1.4" };
    const struct pawl_workflow wrong = { .name = "wrong", .run = run_nothing, .version = "1,4" };
    struct pawl_instance instance;
    assert_int_equal(pawl_register(world->engine, &workflow, &world->error), PAWL_OK);
    assert_refused(world, pawl_register(world->engine, &wrong, &world->error), PAWL_INVALID, "\"1,4\"", NULL);
    assert_int_equal(pawl_create(world->engine, world->scope, "authored", NULL, &instance, &world->error), PAWL_OK);
    assert_version(&instance, "1.4");
}

/* ---- Recording -------------------------------------------------------------------------------------------------------- */

TEST_OF(world, every_way_to_begin_a_run_records_the_version)
{
    const struct pawl_batch_item items[] = { { .id = "b" }, { .id = "c" } };
    struct pawl_instance instance, *instances;
    size_t count;
    deploy(world, "1.0");
    instance = world_create(world, "a");
    assert_version(&instance, "1.0");
    assert_int_equal(
        pawl_create_batch(world->engine, world->scope, "order", items, 2, &instances, &count, &world->error), PAWL_OK);
    assert_int_equal(count, 2);
    assert_version(&instances[1], "1.0");
    world_make(world, "a", PW_RELATION_ATTACHED, "order", "child", NULL);
    world_make(world, "a", PW_RELATION_DETACHED, "other", "unversioned", NULL);
    world_make(world, "a", PW_RELATION_JOB, "@charge", "job", NULL);

    static const char *const ids[] = { "a", "b", "c", "child" };
    for (size_t i = 0; i < 4; i++) {
        instance = world_get(world, ids[i]);
        assert_version(&instance, "1.0");
    }
    assert_null(world_row_of(world, "other", "unversioned").terms.version.data);
    assert_null(world_row_of(world, "@charge", "job").terms.version.data);
}

TEST_OF(world, a_restart_records_the_version_that_is_registered_then)
{
    struct pawl_instance instance;
    deploy(world, "1.0");
    (void)world_create(world, "a");
    (void)world_claim(world);
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    deploy(world, "2.0");
    instance = world_get(world, "a");
    assert_version(&instance, "1.0");

    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);

    instance = world_get(world, "a");
    assert_version(&instance, "2.0");
    assert_int_equal(pawl_get_run(world->engine, world->scope, "order", "a", 1, &instance, &world->error), PAWL_OK);
    assert_version(&instance, "1.0");
    deploy(world, NULL);
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    struct pawl_instance_page page;
    assert_int_equal(pawl_list_runs(world->engine, world->scope, "order", "a", NULL, &page, &world->error), PAWL_OK);
    assert_int_equal(page.count, 3);
    assert_version(&page.instances[0], NULL);
    assert_version(&page.instances[1], "2.0");
    assert_version(&page.instances[2], "1.0");
}

TEST_OF(world, an_existing_instance_answers_its_own_version)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    deploy(world, "1.0");
    (void)world_create(world, "a");
    deploy(world, "2.0");
    options.id = "a";
    options.return_existing = true;
    assert_int_equal(pawl_create(world->engine, world->scope, "order", &options, &instance, &world->error), PAWL_OK);
    assert_version(&instance, "1.0");
}

/* ---- Listing ---------------------------------------------------------------------------------------------------------- */

TEST_OF(world, instances_are_listed_by_the_version_of_their_newest_run)
{
    (void)world_create(world, "old");
    deploy(world, "1.0");
    (void)world_create(world, "a");
    (void)world_create(world, "b");
    deploy(world, "1.1");
    (void)world_create(world, "c");
    assert_string_equal(listed(world, "1.0", PAWL_NEWEST_FIRST), "b a ");
    assert_string_equal(listed(world, "1.0", PAWL_OLDEST_FIRST), "a b ");
    assert_string_equal(listed(world, "1.1", PAWL_NEWEST_FIRST), "c ");
    assert_string_equal(listed(world, "1", PAWL_NEWEST_FIRST), "");
    assert_string_equal(listed(world, NULL, PAWL_NEWEST_FIRST), "c b a old ");

    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_string_equal(listed(world, "1.0", PAWL_NEWEST_FIRST), "b ");
    assert_string_equal(listed(world, "1.1", PAWL_OLDEST_FIRST), "a c ");
    world_finish(world, "c", PW_OUTCOME_COMPLETE);
    assert_string_equal(listed(world, "1.1", PAWL_OLDEST_FIRST), "a c ");
}

TEST_OF(world, a_list_by_version_has_pages_whose_cursor_is_of_that_version)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    deploy(world, "1.0");
    (void)world_create(world, "a");
    (void)world_create(world, "b");
    (void)world_create(world, "c");
    options.version = "1.0";
    options.page_size = 2;
    assert_int_equal(try_list(world, &options, &page), PAWL_OK);
    assert_int_equal(page.count, 2);
    options.cursor = page.cursor;
    assert_int_equal(try_list(world, &options, &page), PAWL_OK);
    assert_int_equal(page.count, 1);
    assert_string_equal(page.instances[0].id, "a");
    assert_null(page.cursor);
    options.version = "1.1";
    assert_refused(world, try_list(world, &options, &page), PAWL_INVALID_CURSOR, NULL);
    options.version = NULL;
    assert_refused(world, try_list(world, &options, &page), PAWL_INVALID_CURSOR, NULL);
}

TEST_OF(world, what_a_list_cannot_combine_is_said)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    (void)world_create(world, "a");
    options.version = "1 0";
    assert_refused(world, try_list(world, &options, &page), PAWL_INVALID, "\"1 0\" is not a version", NULL);
    options.version = "1.0";
    assert_refused(world, pawl_list_children(world->engine, world->scope, "order", "a", &options, &page, &world->error),
                   PAWL_INVALID, "children are listed whatever their version", NULL);
    assert_refused(world, pawl_list_runs(world->engine, world->scope, "order", "a", &options, &page, &world->error),
                   PAWL_INVALID, "runs are listed whatever their version", NULL);
    options.has_status = true;
    assert_refused(world, try_list(world, &options, &page), PAWL_INVALID, "by status or by version, not by both",
                   "order, page size and cursor", NULL);
}
