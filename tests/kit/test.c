/* test.c - see test.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* program_invocation_short_name */
#endif
#include "test.h"

#include <errno.h>

/* The linker collects the tests of a program between these two. */
extern const struct test *const __start_pawl_tests[];
extern const struct test *const __stop_pawl_tests[];

static int compare_lines(const void *left, const void *right)
{
    return (*(const struct test *const *)left)->line - (*(const struct test *const *)right)->line;
}

static bool runs_at(const struct test *test, int bit, enum test_store store)
{
    int where = test->setting != NULL ? test->setting->where : 0;
    if (bit == 0 || bit == REPLAYED)
        return bit == 0 ? where == 0 : (where & REPLAYED) != 0;
    if (store == STORE_IN_POSTGRES && store_count() <= STORE_IN_POSTGRES)
        return false;
    return (where & bit) != 0 || ((where & ON_EVERY_STORE) != 0 && (size_t)store < store_count());
}

static int run_at(const struct test *const *tests, size_t count, int bit, struct test_place place)
{
    struct CMUnitTest *chosen = calloc(count, sizeof *chosen);
    size_t chosen_count = 0;
    char group[128];
    if (chosen == NULL)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (!runs_at(tests[i], bit, place.store))
            continue;
        const struct test_setting *setting = tests[i]->setting;
        chosen[chosen_count++] =
            (struct CMUnitTest){ tests[i]->name, tests[i]->run, setting != NULL ? setting->set_up : NULL,
                                 setting != NULL ? setting->tear_down : NULL, bit != 0 ? &place : NULL };
    }
    (void)snprintf(group, sizeof group, "%s%s%s", program_invocation_short_name, place.name[0] != '\0' ? ", " : "",
                   place.name);
    int failed = chosen_count > 0 ? _cmocka_run_group_tests(group, chosen, chosen_count, NULL, NULL) : 0;
    free(chosen);
    return failed;
}

int test_run_all(void)
{
    size_t count = (size_t)(__stop_pawl_tests - __start_pawl_tests);
    const struct test **tests = calloc(count, sizeof *tests);
    if (tests == NULL)
        return 1;
    memcpy(tests, __start_pawl_tests, count * sizeof *tests);
    qsort(tests, count, sizeof *tests, compare_lines);
    int failed = run_at(tests, count, 0, (struct test_place){ .name = "" });
    failed += run_at(tests, count, REPLAYED, (struct test_place){ "replayed", STORE_IN_FILE, true });
    for (enum test_store store = STORE_IN_MEMORY; store <= STORE_PLAIN; store++)
        failed += run_at(tests, count, 1 << store, (struct test_place){ store_name(store), store, false });
    free(tests);
    return failed;
}

/* ---- Scopes --------------------------------------------------------------------------------------------------------- */

int open_scope(void **state)
{
    *state = pawl_scope_new();
    return *state != NULL ? 0 : -1;
}

int close_scope(void **state)
{
    pawl_scope_free(*state);
    return 0;
}

const struct test_setting scoped = { open_scope, close_scope, 0 };

pawl_value *parse_value(pawl_scope *scope, const char *text)
{
    pawl_value *value = NULL;
    struct pawl_error error = { PAWL_OK, "" };
    if (pawl_value_parse(scope, text, strlen(text), &value, &error) != PAWL_OK)
        fail_msg("%s: %s", text, error.text);
    return value;
}
