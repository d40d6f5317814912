/* testing_kit.h - a world with workflows to test the test kit itself with, and what they note while they run. */
#ifndef TESTS_TESTING_KIT_H
#define TESTS_TESTING_KIT_H

#include "kit/test.h"
#include "testing/world.h"

#define START_MS INT64_C(1767225600000) /* 2026-01-01 */
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)
enum { TIMES_MAX = 8, PAGED_COUNT = 230 };

/* What workflows and bodies note outside of any history. */
struct kit {
    pawl_world *world;
    struct pawl_error error;
    int64_t passes, bodies, names;
    int64_t times[TIMES_MAX]; /* of the bodies */
    int64_t body_takes_ms;    /* a body moves the clock by this */
    enum pawl_kind kind;      /* of what pawl_do() answered */
    char failure[64], message[64];
};

#define ok(call) assert_int_equal((call), PAWL_OK)

/* A world of the defaults.  testing_kit.c says which workflows it has. */
extern const struct test_setting kit_setting;

void kit_open(struct kit *kit, const struct pawl_world_options *options);
/* Another world instead, and all notes forgotten. */
void kit_reopen(struct kit *kit, const struct pawl_world_options *options);

/* The calls of testing.h, which must succeed. */
void kit_create(struct kit *kit, const char *workflow, const char *id);
void kit_run(struct kit *kit); /* until idle */
struct pawl_instance kit_get(struct kit *kit, const char *workflow, const char *id);
struct pawl_history kit_history(struct kit *kit, const char *workflow, const char *id);

/* A fresh instance "s" of "single", run until it can do nothing more now; and its step. */
struct pawl_instance kit_run_single(struct kit *kit);
const struct pawl_step_record *kit_work(struct kit *kit);

/* `status` is as expected, and kit->error says the same, with this word in its text.  Clears the error. */
void kit_refused(struct kit *kit, pawl_status status, pawl_status expected, const char *word);
void kit_traced(struct kit *kit, const char *words);

#endif
