/* mocks.c - see mocks.h, and the mocks of include/pawl/testing.h. */
#include "testing/mocks.h"

#include "base/error.h"
#include "testing/world.h"
#include "value/value.h"

struct pw_mock_entry {
    struct pw_text workflow; /* absent: any */
    struct pw_text step;
    int64_t times_left; /* INT64_MAX: always */
    struct pw_mock mock;
    struct pw_mock_entry *older;
};

static bool is_about(const struct pw_mock_entry *entry, struct pw_text workflow, struct pw_text step)
{
    return entry->times_left > 0 && pw_text_equal(entry->step, step) &&
           (entry->workflow.data == NULL || pw_text_equal(entry->workflow, workflow));
}

static struct pw_mock find_mock(void *user, struct pw_text workflow, struct pw_text step, int64_t attempt)
{
    struct pw_mock_list *list = user;
    struct pw_mock mock = { .kind = PW_MOCK_NONE };
    (void)attempt;
    pthread_mutex_lock(&list->lock);
    struct pw_mock_entry *entry = list->newest;
    while (entry != NULL && !is_about(entry, workflow, step))
        entry = entry->older;
    if (entry != NULL) {
        mock = entry->mock;
        if (entry->times_left < INT64_MAX)
            entry->times_left--;
    }
    pthread_mutex_unlock(&list->lock);
    return mock;
}

void pw_mock_list_init(struct pw_mock_list *list, pawl_scope *scope, bool disable_sleeps)
{
    *list = (struct pw_mock_list){ .hooks = { .user = list, .find = find_mock, .sleeps_disabled = disable_sleeps },
                                   .scope = scope };
    pthread_mutex_init(&list->lock, NULL);
}

void pw_mock_list_free(struct pw_mock_list *list)
{
    pthread_mutex_destroy(&list->lock);
}

/* ---- Adding mocks --------------------------------------------------------------------------------------------- */

static pawl_status add_mock(pawl_world *world, const char *workflow, const char *step, int64_t times,
                            const struct pw_mock *mock, struct pawl_error *error)
{
    if (world == NULL || step == NULL)
        return pw_error(error, PAWL_INVALID, "a mock needs a world and the name of a step");
    if (times < 0)
        return pw_error(error, PAWL_INVALID,
                        "a mock of step \"%.80s\" is for 1 or more attempts, or for all of them (0)", step);
    struct pw_mock_list *list = &world->mocks;
    struct pw_mock_entry *entry = pw_scope_take(list->scope, sizeof *entry);
    if (entry == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    *entry = (struct pw_mock_entry){ .times_left = times > 0 ? times : INT64_MAX, .mock = *mock };
    if (!pw_scope_text(list->scope, pw_text_of(workflow), &entry->workflow) ||
        !pw_scope_text(list->scope, pw_text_trim(pw_text_of(step)), &entry->step) ||
        !pw_scope_text(list->scope, mock->result, &entry->mock.result) ||
        !pw_scope_text(list->scope, mock->error_name, &entry->mock.error_name) ||
        !pw_scope_text(list->scope, mock->error_message, &entry->mock.error_message))
        return pw_error_plain(error, PAWL_NOMEM);
    pthread_mutex_lock(&list->lock);
    entry->older = list->newest;
    list->newest = entry;
    pthread_mutex_unlock(&list->lock);
    return PAWL_OK;
}

pawl_status pawl_world_mock_result(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                   const char *result_json, struct pawl_error *error)
{
    struct pw_mock mock = { .kind = PW_MOCK_RESULT, .result = pw_text_of(result_json) };
    if (world != NULL)
        PAWL_TRY(pw_json_check(mock.result, world->engine->limits.payload_bytes_max, "the mocked result", error));
    return add_mock(world, workflow, step, times, &mock, error);
}

pawl_status pawl_world_mock_failure(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                    const char *error_name, const char *error_message, bool may_retry,
                                    struct pawl_error *error)
{
    struct pw_mock mock = { .kind = PW_MOCK_FAILURE,
                            .error_name = pw_text_of(error_name != NULL ? error_name : pawl_status_name(PAWL_FAILED)),
                            .error_message = pw_text_of(error_message != NULL ? error_message : ""),
                            .may_retry = may_retry };
    return add_mock(world, workflow, step, times, &mock, error);
}

pawl_status pawl_world_mock_timeout(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                    struct pawl_error *error)
{
    return add_mock(world, workflow, step, times, &(struct pw_mock){ .kind = PW_MOCK_TIMEOUT }, error);
}

void pawl_world_unmock(pawl_world *world)
{
    if (world == NULL)
        return;
    pthread_mutex_lock(&world->mocks.lock);
    world->mocks.newest = NULL;
    pthread_mutex_unlock(&world->mocks.lock);
}
