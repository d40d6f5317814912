/* example_world.h - for tests of the programs in examples/: a test includes one, which has pawl_module, and finds it here in a
 * world of its own, in a folder of its own. */
#ifndef TESTS_EXAMPLE_WORLD_H
#define TESTS_EXAMPLE_WORLD_H

#include "kit/running.h"

#include <dirent.h>
#include <unistd.h>

#include "pawl/testing.h"

struct example {
    pawl_world *world;
    struct pawl_error error;
    char folder[256], before[512];
};

static inline int example_set_up(void **state)
{
    struct example *example = calloc(1, sizeof *example);
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    assert_non_null(example);
    assert_non_null(getcwd(example->before, sizeof example->before));
    const char *parent = getenv("TMPDIR");
    (void)snprintf(example->folder, sizeof example->folder, "%.200s/pawl-example-XXXXXX",
                   parent != NULL ? parent : P_tmpdir);
    assert_non_null(mkdtemp(example->folder));
    assert_int_equal(chdir(example->folder), 0);
    options.always_replay = true;
    assert_ok(pawl_world_open(&options, &example->world, &example->error), example->error);
    assert_ok(pawl_register_module(pawl_world_engine(example->world), &pawl_module, &example->error), example->error);
    *state = example;
    return 0;
}

/* Examples make files, and no folders. */
static inline int example_tear_down(void **state)
{
    struct example *example = *state;
    pawl_world_close(example->world);
    DIR *folder = opendir(".");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        (void)unlink(entry->d_name);
    (void)closedir(folder);
    int trouble = chdir(example->before) != 0 || rmdir(example->folder) != 0;
    free(example);
    return trouble;
}

static const struct test_setting example_setting = { .set_up = example_set_up, .tear_down = example_tear_down };

static inline void example_create(struct example *example, const char *workflow, const char *id, const char *params)
{
    assert_ok(pawl_world_create(example->world, workflow, id, params, &example->error), example->error);
}

/* Until nothing is due now. */
static inline void example_run(struct example *example)
{
    assert_ok(pawl_world_run_until_idle(example->world, &example->error), example->error);
}

static inline struct pawl_instance example_get(struct example *example, const char *workflow, const char *id)
{
    struct pawl_instance instance;
    assert_ok(pawl_world_get(example->world, workflow, id, &instance, &example->error), example->error);
    return instance;
}

static inline bool example_has(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Crashes it everywhere: nothing is found, and undisturbed it ends like this.  `setup` and `check`: or NULL. */
static inline void example_sweep(const char *workflow, const char *params, const char *outcome, pawl_sweep_fn *setup,
                                 pawl_sweep_fn *check)
{
    struct pawl_sweep_options options = PAWL_SWEEP_OPTIONS_INIT;
    struct pawl_sweep_report report;
    struct pawl_error error;
    pawl_scope *scope = pawl_scope_new();
    options.module = &pawl_module;
    options.workflow = workflow;
    options.params_json = params;
    options.setup = setup;
    options.check = check;
    assert_ok(pawl_sweep(scope, &options, &report, &error), error);
    if (report.finding_count > 0 || report.outcome == NULL || strstr(report.outcome, outcome) == NULL)
        fail_msg("not as expected: %s", report.text);
    assert_true(report.crashes > 0);
    pawl_scope_free(scope);
}

#endif
