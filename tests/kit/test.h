/* test.h - how a test is declared.  Tests list themselves: a program runs all tests of its file in the order of the
 * file. main() is in main.c unless the program has its own.
 *
 *     TEST(a_text_is_copied)                      needs nothing
 *     TEST_OF(stage, a_run_ends)                  gets `struct stage *stage`, which stage_setting prepares
 *     TEST_IN(large_stage, stage, a_run_ends)     the same, prepared by another setting
 *     TEST_WITH(scoped, pawl_scope *scope, ...)   gets anything else
 *
 * A setting also says on which stores its tests run. */
#ifndef TESTS_KIT_TEST_H
#define TESTS_KIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pawl/workflow.h"
#include "stores.h"

/* Where a test runs: one bit for each enum test_store, and two more. */
enum {
    ON_MEMORY = 1 << STORE_IN_MEMORY,
    ON_FILE = 1 << STORE_IN_FILE,
    ON_POSTGRES = 1 << STORE_IN_POSTGRES,
    ON_PLAIN = 1 << STORE_PLAIN,
    ON_EVERY_STORE = 1 << 8, /* the first store_count() stores */
    REPLAYED = 1 << 9        /* in a file, with every boundary replayed */
};

/* cmocka's fixtures.  Either may be NULL.  If the setting names stores, *state is a struct test_place when set_up
 * begins. */
struct test_setting {
    int (*set_up)(void **state);
    int (*tear_down)(void **state);
    int where; /* 0: once, without a store */
};

struct test_place {
    const char *name;
    enum test_store store;
    bool replays;
};

struct test {
    const char *name;
    void (*run)(void **state);
    const struct test_setting *setting; /* or NULL */
    int line;
};

#define TEST_UNUSED __attribute__((unused))

#define TEST_LIST(title, given)                                                                                        \
    static const struct test title##_test = { #title, title##_run, given, __LINE__ };                                  \
    static const struct test *const title##_listed __attribute__((used, section("pawl_tests"))) = &title##_test

#define TEST(title)                                                                                                    \
    static void title(void);                                                                                           \
    static void title##_run(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        title();                                                                                                       \
    }                                                                                                                  \
    TEST_LIST(title, NULL);                                                                                            \
    static void title(void)

#define TEST_WITH(setting, parameter, title)                                                                           \
    static void title(parameter);                                                                                      \
    static void title##_run(void **state)                                                                              \
    {                                                                                                                  \
        title(*state);                                                                                                 \
    }                                                                                                                  \
    TEST_LIST(title, &(setting));                                                                                      \
    static void title(TEST_UNUSED parameter)

#define TEST_IN(setting, thing, title) TEST_WITH(setting, struct thing *thing, title)
#define TEST_OF(thing, title) TEST_IN(thing##_setting, thing, title)

/* Declare workflows, branches and bodies of tests, which need not use all their parameters. */
#define WORKFLOW(title)                                                                                                \
    static pawl_status title(TEST_UNUSED pawl_run *run, TEST_UNUSED const pawl_value *params,                          \
                             TEST_UNUSED pawl_value **out_result)
#define BRANCH(title)                                                                                                  \
    static pawl_status title(TEST_UNUSED pawl_run *run, TEST_UNUSED const pawl_value *input,                           \
                             TEST_UNUSED pawl_value **out_result)
#define BODY(title)                                                                                                    \
    static pawl_status title(TEST_UNUSED pawl_step *step, TEST_UNUSED const pawl_value *input,                         \
                             TEST_UNUSED pawl_value **out_result)

/* For TEST_WITH(scoped, pawl_scope *scope, ...), and a value in it, which the text must be. */
int open_scope(void **state);
int close_scope(void **state);
extern const struct test_setting scoped;
pawl_value *parse_value(pawl_scope *scope, const char *text);

/* Runs all tests of the program, those on stores once for each place.  Returns how many failed. */
int test_run_all(void);

#endif
