/* test_example_workspace.c - contract F3 and F4 by example: runs that share a folder have it one at a time, in the order in
 * which they came, and give it back however they end. */
#define PAWL_NO_MAIN
#include "../../examples/workspace.c"

#include "example_world.h"

#define HERE "{\"workspace\": \".\"}"

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

enum { FILE_SIZE = 4096 };

static void get_text(const char *path, char out_text[FILE_SIZE])
{
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    out_text[fread(out_text, 1, FILE_SIZE - 1, file)] = '\0';
    (void)fclose(file);
}

static void assert_text(const char *path, const char *wanted)
{
    char text[FILE_SIZE];
    get_text(path, text);
    assert_string_equal(text, wanted);
}

static void assert_status(struct example *example, const char *id, enum pawl_instance_status status)
{
    assert_int_equal(example_get(example, "workspace", id).status, status);
}

TEST_OF(example, F3_the_branches_are_joined_and_the_folder_given_back)
{
    put_text("input.txt", "one two\nthree\n");
    example_create(example, "workspace", "a", HERE);
    example_run(example);
    assert_string_equal(example_get(example, "workspace", "a").output_json,
                        "{\"summary\":\"2 lines, 3 words, 14 bytes\"}");
    assert_text("words", "3 words\n");
    assert_text("summary", "2 lines, 3 words, 14 bytes\n");
    assert_text(".queue", "");
}

/* The first one is left with the folder, and the next three wait for it: its input is missing, and it tries again. */
static void crowd(struct example *example)
{
    static const char *const ids[] = { "a", "b", "c", "d" };
    for (size_t i = 0; i < LENGTH(ids); i++) {
        example_create(example, "workspace", ids[i], HERE);
        example_run(example);
        assert_status(example, ids[i], PAWL_WAITING);
    }
    assert_string_equal(example_get(example, "workspace", "a").current_step->name, "read input");
    assert_string_equal(example_get(example, "workspace", "d").current_step->name, "workspace is free");
}

TEST_OF(example, F3_whoever_finds_it_taken_waits_and_is_told)
{
    crowd(example);
    put_text("input.txt", "one\n");
    assert_ok(pawl_world_advance(example->world, "1 minute", &example->error), example->error);
    int64_t before_ms = 0;
    for (const char *id = "abcd"; *id != '\0'; id++) {
        const char name[] = { *id, '\0' };
        assert_status(example, name, PAWL_COMPLETE);
        int64_t at_ms = example_get(example, "workspace", name).completed_at_ms;
        assert_true(at_ms >= before_ms);
        before_ms = at_ms;
    }
    assert_text(".queue", "");
}

TEST_OF(example, F4_a_run_that_fails_gives_it_to_the_next)
{
    crowd(example);
    assert_ok(pawl_world_run_to_end(example->world, &example->error), example->error);
    /* All of them find no input, one after the other. */
    for (const char *id = "abcd"; *id != '\0'; id++) {
        const char name[] = { *id, '\0' };
        assert_status(example, name, PAWL_ERRORED);
        assert_string_equal(example_get(example, "workspace", name).error_name, "FileTrouble");
        assert_non_null(pawl_world_step(example->world, "workspace", name, "compensate: lock workspace"));
    }
    assert_text(".queue", "");
}

TEST_OF(example, F4_a_run_that_is_interrupted_gives_it_to_the_next)
{
    crowd(example);
    assert_ok(pawl_interrupt(pawl_world_engine(example->world), "workspace", "a", &example->error), example->error);
    example_run(example);
    assert_status(example, "a", PAWL_TERMINATED);
    assert_string_equal(example_get(example, "workspace", "b").current_step->name, "read input");
}

TEST_OF(example, F3_a_run_that_is_over_does_not_hold_up_those_behind_it)
{
    crowd(example);
    assert_ok(pawl_terminate(pawl_world_engine(example->world), "workspace", "b", &example->error), example->error);
    put_text("input.txt", "one\n");
    assert_ok(pawl_world_advance(example->world, "1 minute", &example->error), example->error);
    assert_status(example, "c", PAWL_COMPLETE);
    assert_status(example, "d", PAWL_COMPLETE);
    assert_text(".queue", "");
}

TEST_OF(example, F4_one_that_waits_and_is_rolled_back_leaves_the_queue)
{
    crowd(example);
    assert_ok(pawl_terminate_with_rollback(pawl_world_engine(example->world), "workspace", "c", &example->error),
              example->error);
    example_run(example);
    assert_status(example, "c", PAWL_TERMINATED);
    assert_status(example, "d", PAWL_WAITING);
    char text[FILE_SIZE];
    get_text(".queue", text);
    assert_null(strstr(text, "\nc "));
    assert_non_null(strstr(text, "\nd "));
}

TEST_OF(example, F3_one_that_waits_and_is_restarted_is_told_at_its_old_place)
{
    crowd(example);
    assert_ok(pawl_restart(pawl_world_engine(example->world), "workspace", "b", &example->error), example->error);
    example_run(example);
    assert_status(example, "b", PAWL_WAITING);
    assert_ok(pawl_interrupt(pawl_world_engine(example->world), "workspace", "a", &example->error), example->error);
    example_run(example);
    assert_string_equal(example_get(example, "workspace", "b").current_step->name, "read input");
}

static pawl_status make_ready(pawl_world *world, void *user, struct pawl_error *error)
{
    (void)world;
    (void)user;
    (void)error;
    (void)unlink(".queue");
    put_text("input.txt", "one two\nthree\n");
    return PAWL_OK;
}

static pawl_status is_given_back(pawl_world *world, void *user, struct pawl_error *error)
{
    (void)world;
    (void)user;
    (void)error;
    assert_text(".queue", "");
    return PAWL_OK;
}

TEST_OF(example, H3_it_stands_a_crash_at_any_instant)
{
    example_sweep("workspace", HERE, "complete", make_ready, is_given_back);
}
