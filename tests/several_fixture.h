/* several_fixture.h - the fixture of store_fixture.h on a store made of three files. */
#ifndef TESTS_SEVERAL_FIXTURE_H
#define TESTS_SEVERAL_FIXTURE_H

#include "store/several/several.h"
#include "store_fixture.h"

#include <string.h>

#include "running.h"

/* A store of so many files in the place's folder; the fixture's own is closed. */
static inline void open_files(struct fixture *fixture, int count)
{
    size_t used = 0;
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(fixture->url + used, sizeof fixture->url - used, "%ssqlite:%s/%d.db", i > 0 ? " " : "",
                                 fixture->place.folder, i);
    assert_true(used < sizeof fixture->url);
    fixture->store = fixture_open_store(fixture);
}

static inline int set_up(void **state)
{
    (void)fixture_set_up(state, STORE_IN_FILE);
    open_files(*state, 3);
    return 0;
}

static inline int tear_down(void **state)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-runners" };
    struct fixture *fixture = *state;
    if (fixture->store != NULL)
        fixture->store->ops->close(fixture->store);
    fixture->store = NULL;
    for (int i = 0; i < PW_HOMES_MAX; i++)
        for (size_t s = 0; s < LENGTH(suffixes); s++) {
            char path[192];
            snprintf(path, sizeof path, "%s/%d.db%s", fixture->place.folder, i, suffixes[s]);
            (void)unlink(path);
        }
    return fixture_tear_down(state);
}

static inline struct pw_several *several_of(struct fixture *fixture)
{
    assert_string_equal(fixture->store->ops->name, "several");
    return (struct pw_several *)fixture->store;
}

/* The nth id, from 0, of workflow "order" that lives there; in one of a few places in turn. */
static inline const char *id_at(size_t home, size_t homes, int nth)
{
    static char ids[16][24];
    static size_t next;
    char *id = ids[next++ % LENGTH(ids)];
    for (int i = 0;; i++) {
        snprintf(id, sizeof ids[0], "i%d", i);
        if (pw_home_of(text("order"), text(id), homes) == home && nth-- == 0)
            return id;
    }
}

static inline struct pw_fence create_told(struct fixture *fixture, const char *id)
{
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_create *create = add_create(unit, "order", id);
    struct pw_op *cause = unit->last;
    struct pw_op_hook *hook = &add(unit, PW_OP_HOOK)->as.hook;
    *hook = (struct pw_op_hook){ .cause = cause, .id = text(id), .hook = text("mail"), .event = PAWL_HOOK_ENQUEUED };
    hook->reason = PW_REASON_CREATE;
    hook->attempts_max = 3;
    fixture_apply(fixture);
    assert_int_equal(unit->status, PAWL_OK);
    struct pw_fence fence = create->fence;
    fixture_clear_units(fixture);
    return fence;
}

#endif
