/* fuzz_mark.c - marks to follow an instance from.  The first byte chooses the instance, the rest is the mark's text.
 *
 * It is refused as PAWL_INVALID_CURSOR, or there is a follower that comes to an end: of a finished instance it says so, of
 * another there is nothing new after a while.  Its lines are in order, and each of its own marks is good to go on from. */
#include "fuzz_store.h"

enum { LOOKS_MAX = 50 };

/* One instance in it has begun its second run. */
static struct fuzz_store *restarted_store(void)
{
    static bool is_restarted;
    struct fuzz_store *store = fuzz_store_shared();
    if (!is_restarted) {
        pawl_status status = pawl_restart(store->engine, "w", "racing", NULL);
        assert(status == PAWL_OK);
        is_restarted = true;
    }
    return store;
}

static void check_mark(pawl_engine *engine, const char *id, const char *mark)
{
    pawl_follow *follow = NULL;
    assert(mark != NULL);
    pawl_status status = pawl_follow_open(engine, "w", id, mark, &follow, NULL);
    assert(status == PAWL_OK);
    pawl_follow_close(follow);
}

/* Line after line, and run after run. */
static void check_line(const struct pawl_log_record *log, int64_t *run, int64_t *line)
{
    assert(log->run_number > *run || (log->run_number == *run && log->id > *line));
    *run = log->run_number;
    *line = log->id;
}

static void follow_to_end(pawl_engine *engine, pawl_follow *follow, const char *id)
{
    bool ended = false, has_news = true;
    int64_t run = 0, line = 0;
    for (int looks = 0; has_news && !ended; looks++) {
        const struct pawl_change *changes = NULL;
        size_t count = 0;
        pawl_scope *scope = pawl_scope_new();
        assert(scope != NULL && looks < LOOKS_MAX);
        pawl_status status = pawl_follow_next(follow, scope, &changes, &count, &ended, NULL);
        assert(status == PAWL_OK);
        for (size_t i = 0; i < count; i++) {
            check_mark(engine, id, changes[i].mark);
            if (changes[i].kind == PAWL_CHANGE_LOG)
                check_line(changes[i].log, &run, &line);
        }
        has_news = count > 0;
        pawl_scope_free(scope);
    }
    assert(ended == (strcmp(id, "complete") == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const ids[] = { "complete", "racing", "paused", "waiting", "asleep", "new" };
    struct fuzz_input input = fuzz_input_of(data, size);
    const char *id = ids[fuzz_choice(&input, sizeof ids / sizeof ids[0])];
    char *mark = fuzz_string(fuzz_rest(&input));
    struct pawl_error error = { PAWL_OK, "" };
    pawl_engine *engine = restarted_store()->engine;
    pawl_follow *follow = NULL;
    pawl_status status = pawl_follow_open(engine, "w", id, mark, &follow, &error);
    assert(status == PAWL_OK || (status == PAWL_INVALID_CURSOR && error.text[0] != '\0'));
    if (status == PAWL_OK)
        follow_to_end(engine, follow, id);
    pawl_follow_close(follow);
    free(mark);
    return 0;
}
