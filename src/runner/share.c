/* share.c - a started runner's share of the due runs: which other runners there are, and which shards it owns
 * (engine/shards.h).
 *
 * The keeper looks every second.  If there are other runners, it claims runs of its own shards at once, and runs of
 * other shards only after they have been due for a while.  So an owner that is busy, dead or not known yet delays a
 * run only briefly.  A runner that is alone claims as if there were no shards. */
#include <stdio.h>
#include <unistd.h>

#include "engine/shards.h"
#include "runner/runner.h"

void pw_view_clear(struct pw_view *view)
{
    pw_arena_clear(&view->arena);
    *view = (struct pw_view){ .owned = NULL };
}

/* ---- What others see --------------------------------------------------------------------------------------------- */

void pw_runner_make_name(char name[PW_RUNNER_NAME_SIZE], const char *given)
{
    char host[PW_RUNNER_NAME_SIZE - 32] = "";
    if (given == NULL && gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    if (given != NULL)
        (void)snprintf(name, PW_RUNNER_NAME_SIZE, "%s", given);
    else
        (void)snprintf(name, PW_RUNNER_NAME_SIZE, "%s:%ld", host, (long)getpid());
}

/* Joins the names with spaces.  False when memory runs out. */
static bool join_names(struct pw_arena *arena, const struct pw_text *names, size_t count, struct pw_text *out_joined)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += names[i].size + 1;
    char *joined = pw_arena_take(arena, size + 1), *at = joined;
    if (joined == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(at, names[i].data, names[i].size);
        at += names[i].size;
        *at++ = i + 1 < count ? ' ' : '\0';
    }
    *at = '\0';
    *out_joined = (struct pw_text){ joined, count > 0 ? size - 1 : 0 };
    return true;
}

static bool make_row(const pawl_runner *runner, bool is_sharing, struct pw_arena *arena, struct pw_runner_row *out_row)
{
    size_t count;
    const struct pw_text *names =
        pw_runner_names(runner->engine, is_sharing ? PW_NAMES_DRIVEN : PW_NAMES_ALL, arena, &count);
    *out_row = (struct pw_runner_row){ .owner = runner->owner,
                                       .name = pw_text_of(runner->name),
                                       .is_sharing = is_sharing,
                                       .started_at_ms = runner->started_at_ms };
    return names != NULL && join_names(arena, names, count, &out_row->workflows);
}

void pw_runner_describe(pawl_runner *runner, bool is_sharing)
{
    struct pw_store *store = runner->engine->store;
    struct pw_arena arena = { 0 };
    struct pw_runner_row row;
    if (make_row(runner, is_sharing, &arena, &row))
        (void)pw_ops(store)->describe(store, &row, NULL);
    pw_arena_clear(&arena);
}

static bool is_same(const struct pw_runner_row *one, const struct pw_runner_row *other)
{
    return one->is_sharing == other->is_sharing && pw_text_equal(one->workflows, other->workflows) &&
           pw_text_equal(one->name, other->name);
}

/* ---- What it sees of others -------------------------------------------------------------------------------------- */

/* Finds which shards of a workflow this runner owns; absent if it owns all.  False when memory runs out. */
static bool make_owned(struct pw_arena *arena, const struct pw_runner_row *rows, size_t count, size_t self,
                       struct pw_text workflow, struct pw_text *out_owned)
{
    size_t owners[PW_SHARD_COUNT], ours = 0;
    char *owned = pw_arena_take(arena, PW_SHARD_COUNT + 1);
    if (owned == NULL)
        return false;
    pw_shard_owners(rows, count, workflow, owners);
    for (size_t shard = 0; shard < PW_SHARD_COUNT; shard++) {
        owned[shard] = owners[shard] == self ? '1' : '0';
        ours += owners[shard] == self;
    }
    owned[PW_SHARD_COUNT] = '\0';
    *out_owned = ours < PW_SHARD_COUNT ? (struct pw_text){ owned, PW_SHARD_COUNT } : (struct pw_text){ NULL, 0 };
    return true;
}

static bool make_view(const pawl_runner *runner, const struct pw_runner_row *rows, size_t count, size_t self,
                      struct pw_view *view)
{
    bool has_others = false;
    const struct pw_text *names = pw_runner_names(runner->engine, PW_NAMES_FREE, &view->arena, &view->count);
    struct pw_text *owned = pw_arena_take(&view->arena, (view->count + 1) * sizeof *owned);
    if (names == NULL || owned == NULL)
        return false;
    for (size_t i = 0; i < view->count; i++) {
        if (!make_owned(&view->arena, rows, count, self, names[i], &owned[i]))
            return false;
        has_others = has_others || owned[i].data != NULL;
    }
    view->owned = has_others ? owned : NULL;
    return true;
}

/* A hash of the sharing runners.  Never 0, which means that there is no view. */
static uint64_t digest_of(const struct pw_runner_row *rows, size_t count)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].is_sharing)
            continue;
        digest = pw_stable_hash(digest, (struct pw_text){ (const char *)&rows[i].owner, sizeof rows[i].owner });
        digest = pw_stable_hash(digest, rows[i].workflows);
    }
    return digest != 0 ? digest : 1;
}

/* Replaces the view if the runners have changed.  Keeps the old one when memory runs out. */
static void take_view(pawl_runner *runner, const struct pw_runner_row *rows, size_t count, size_t self)
{
    struct pw_view view = { .digest = digest_of(rows, count), .told = runner->view.told };
    if (view.digest == runner->view.digest)
        return;
    if (make_view(runner, rows, count, self, &view)) {
        pw_view_clear(&runner->view);
        runner->view = view;
        atomic_store(&runner->has_others, view.owned != NULL);
    } else {
        pw_view_clear(&view);
    }
}

void pw_runner_look_around(pawl_runner *runner)
{
    struct pw_store *store = runner->engine->store;
    struct pw_arena arena = { 0 };
    const struct pw_read asked = { .kind = PW_READ_RUNNERS };
    struct pw_found found;
    struct pw_runner_row *all, own;
    size_t self = 0;
    if (!make_row(runner, true, &arena, &own) || pw_read(store, &asked, &arena, &found, NULL) != PAWL_OK)
        goto done;
    const struct pw_runner_row *rows = found.runners;
    size_t count = found.count;
    all = pw_arena_take(&arena, (count + 1) * sizeof *all);
    if (all == NULL)
        goto done;
    while (self < count && rows[self].owner != own.owner)
        self++;
    /* The store's heartbeat for this runner is late.  Describing the runner counts as one, so that others keep relying on it. */
    bool is_late = self < count && pawl_now_ms(runner->engine) - rows[self].seen_at_ms > PW_RUNNER_LATE_MS;
    if (self == count || is_late || !is_same(&rows[self], &own)) {
        runner->view.told = true; /* even if it fails, because the row may have been written */
        (void)pw_ops(store)->describe(store, &own, NULL);
    }
    if (count > 0)
        memcpy(all, rows, count * sizeof *all);
    all[self] = own; /* whether or not that was written */
    take_view(runner, all, self == count ? count + 1 : count, self);
done:
    pw_arena_clear(&arena);
}

void pw_runner_leave_share(pawl_runner *runner)
{
    pw_runner_describe(runner, false);
    runner->view.told = false;
}
