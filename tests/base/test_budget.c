/* test_budget.c - the budget of memory: who is granted what, and how much there is by default. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "kit/test.h"
#include "pawl/pawl.h"

enum { MIB = 1024 * 1024, THREADS = 4, ROUNDS = 20000 };

/* ---- Holding ---- */

TEST(what_does_not_fit_beside_others_is_refused)
{
    struct pw_budget budget;
    int64_t one = 0, other = 0;
    pw_budget_init(&budget, 100);
    assert_true(pw_budget_hold(&budget, &one, 60));
    assert_true(pw_budget_hold(&budget, &other, 40));

    assert_false(pw_budget_hold(&budget, &other, 41));
    assert_int_equal(other, 40);
    assert_int_equal(budget.held, 100);
    assert_int_equal(budget.refused, 1);

    assert_true(pw_budget_hold(&budget, &one, 59));
    assert_true(pw_budget_hold(&budget, &other, 41));
    assert_true(pw_budget_hold(&budget, &one, 0));
    assert_true(pw_budget_hold(&budget, &other, 0));
    assert_int_equal(budget.held, 0);
}

TEST(who_is_alone_is_granted_everything)
{
    struct pw_budget budget;
    int64_t one = 0, other = 0;
    pw_budget_init(&budget, 100);
    assert_true(pw_budget_hold(&budget, &one, 1000));
    assert_true(pw_budget_hold(&budget, &one, INT64_MAX));
    assert_true(pw_budget_hold(&budget, &one, 1001));
    assert_false(pw_budget_hold(&budget, &other, 1));
    assert_true(pw_budget_hold(&budget, &one, 0));
    assert_true(pw_budget_hold(&budget, &other, 1));
}

TEST(the_budget_is_short_until_there_is_room_for_whoever_waits)
{
    struct pw_budget budget;
    int64_t one = 0;
    pw_budget_init(&budget, 100);
    assert_true(pw_budget_hold(&budget, &one, 100));
    assert_false(pw_budget_is_short(&budget)); /* nobody waits */
    pw_budget_want(&budget, 40);
    pw_budget_want(&budget, 30);
    assert_true(pw_budget_is_short(&budget));
    assert_true(pw_budget_hold(&budget, &one, 61));
    assert_true(pw_budget_is_short(&budget));
    assert_true(pw_budget_hold(&budget, &one, 60));
    assert_false(pw_budget_is_short(&budget));
    assert_true(pw_budget_hold(&budget, &one, 100));
    assert_false(pw_budget_is_short(&budget)); /* who waited may ask again */

    pw_budget_want(&budget, 1000);
    assert_true(pw_budget_is_short(&budget));
    assert_true(pw_budget_hold(&budget, &one, 0));
    assert_false(pw_budget_is_short(&budget)); /* alone it fits */
}

TEST(what_is_owed_is_counted_past_the_budget)
{
    struct pw_budget budget;
    int64_t one = 0, other = 0;
    pw_budget_init(&budget, 100);
    assert_true(pw_budget_hold(&budget, &one, 100));
    pw_budget_owe(&budget, &other, 50);
    assert_int_equal(budget.held, 150);
    assert_int_equal(budget.refused, 0);
    assert_true(pw_budget_hold(&budget, &one, 99)); /* less is granted, although it is still too much */
    assert_false(pw_budget_hold(&budget, &one, 100));
    pw_budget_owe(&budget, &other, 0);
    assert_true(pw_budget_hold(&budget, &one, 100));
}

static void *hold_and_give_back(void *user)
{
    struct pw_budget *budget = user;
    int64_t held = 0, most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t before = held;
        if (!pw_budget_hold(budget, &held, 26 + round % 40))
            assert_int_equal(held, before);
        int64_t all = budget->held;
        most = all > most ? all : most;
        if (round % 3 == 0)
            pw_budget_owe(budget, &held, 0);
    }
    pw_budget_owe(budget, &held, 0);
    return (void *)(intptr_t)most;
}

TEST(threads_never_hold_more_than_there_is)
{
    struct pw_budget budget;
    pthread_t threads[THREADS];
    pw_budget_init(&budget, 100);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_give_back, &budget), 0);
    for (int i = 0; i < THREADS; i++) {
        void *most;
        assert_int_equal(pthread_join(threads[i], &most), 0);
        assert_true((intptr_t)most <= 100);
    }
    assert_int_equal(budget.held, 0);
}

TEST(an_engine_counts_what_its_users_hold)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_stats stats = { .struct_size = sizeof stats };
    struct pawl_error error;
    pawl_engine *engine;
    int64_t one = 0, other = 0;
    options.store_url = "sqlite::memory:";
    options.memory_bytes_max = -1;
    assert_int_equal(pawl_open(&options, &engine, &error), PAWL_INVALID);
    options.memory_bytes_max = MIB;
    assert_int_equal(pawl_open(&options, &engine, &error), PAWL_OK);
    assert_true(pawl_memory_hold(engine, &one, MIB / 2));
    assert_false(pawl_memory_hold(engine, &other, MIB));
    pawl_memory_owe(engine, &other, 7);

    pawl_stats_read(engine, &stats);

    assert_int_equal(stats.memory_bytes_max, MIB);
    assert_int_equal(stats.memory_bytes_held, MIB / 2 + 7);
    assert_int_equal(stats.memory_refusals, 1);
    pawl_close(engine);
}

/* ---- How much there is ---- */

struct machine {
    char root[256];
};

static int set_up(void **state)
{
    struct machine *machine = calloc(1, sizeof *machine);
    const char *parent = getenv("TMPDIR");
    (void)snprintf(machine->root, sizeof machine->root, "%.200s/budget-XXXXXX", parent != NULL ? parent : P_tmpdir);
    *state = machine;
    return mkdtemp(machine->root) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    char command[512];
    (void)snprintf(command, sizeof command, "rm -r '%s'", machine->root);
    int failed = system(command); /* NOLINT: a folder of our own */
    free(machine);
    return failed;
}

static const struct test_setting machine_setting = { set_up, tear_down, 0 };

static void put(const struct machine *machine, const char *path, const char *text)
{
    char whole[1024];
    (void)snprintf(whole, sizeof whole, "%s%s", machine->root, path);
    for (char *slash = strchr(whole + strlen(machine->root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

TEST_OF(machine, a_process_without_a_limit_has_the_machine)
{
    int64_t all = pw_memory_of_machine(machine->root);
    assert_true(all > MIB);
    put(machine, "/proc/self/cgroup", "no line\n0::/a\n");
    put(machine, "/sys/fs/cgroup/a/memory.max", "max\n");
    assert_int_equal(pw_memory_of_machine(machine->root), all);
    struct pw_budget budget;
    pw_budget_init(&budget, 0);
    assert_true(budget.max > 0 && budget.max <= all / 4);
}

TEST_OF(machine, the_least_limit_of_the_groups_counts)
{
    put(machine, "/proc/self/cgroup", "0::/outer/inner/leaf\n");
    put(machine, "/sys/fs/cgroup/outer/inner/leaf/memory.max", "max\n");
    put(machine, "/sys/fs/cgroup/outer/inner/memory.max", "33554432\n");
    put(machine, "/sys/fs/cgroup/outer/memory.max", "67108864\n");
    assert_int_equal(pw_memory_of_machine(machine->root), 32 * MIB);
    put(machine, "/sys/fs/cgroup/memory.max", "16777216\n"); /* what a container sees as its own */
    assert_int_equal(pw_memory_of_machine(machine->root), 16 * MIB);
}

TEST_OF(machine, groups_of_the_first_version_count_too)
{
    int64_t all = pw_memory_of_machine(machine->root);
    put(machine, "/proc/self/cgroup", "12:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n0::/docker/x\n");
    put(machine, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(pw_memory_of_machine(machine->root), all);
    put(machine, "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "8388608\n");
    assert_int_equal(pw_memory_of_machine(machine->root), 8 * MIB);
}
