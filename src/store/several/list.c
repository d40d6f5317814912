/* list.c - lists of several members, merged by the time of creation.
 *
 * Each member's rows stay in its own order, and the positions say how far each was read.  So a page goes on where the one
 * before ended, whatever was added in between, and no clock is needed for that: times only decide who is next. */
#include <assert.h>

#include "base/error.h"
#include "store/several/several.h"

/* Where a kind of row keeps what is looked at here. */
struct shape {
    size_t size, key, created_at;
};
static const struct shape instance_shape = { sizeof(struct pw_instance), offsetof(struct pw_instance, key),
                                             offsetof(struct pw_instance, created_at_ms) };
static const struct shape hook_shape = { sizeof(struct pw_hook_row), offsetof(struct pw_hook_row, key),
                                         offsetof(struct pw_hook_row, created_at_ms) };

struct merge {
    struct pw_several *several;
    struct pw_arena *arena;
    const struct shape *shape;
    bool newest_first;
    size_t max;
    struct member_rows {
        char *rows;
        size_t count, at;
    } lists[PW_HOMES_MAX];
};

static int64_t *number_at(char *row, size_t offset)
{
    return (int64_t *)(void *)(row + offset);
}

static char *head_of(struct merge *merge, size_t home)
{
    struct member_rows *list = &merge->lists[home];
    return list->at < list->count ? list->rows + list->at * merge->shape->size : NULL;
}

/* NULL: all are at their end. */
static char *take_next(struct merge *merge, size_t *out_home)
{
    char *best = NULL;
    for (size_t home = 0; home < merge->several->count; home++) {
        char *head = head_of(merge, home);
        if (head == NULL)
            continue;
        int64_t ahead_ms =
            best != NULL ? *number_at(best, merge->shape->created_at) - *number_at(head, merge->shape->created_at) : 0;
        if (best == NULL || (merge->newest_first ? ahead_ms < 0 : ahead_ms > 0)) {
            best = head;
            *out_home = home;
        }
    }
    if (best != NULL)
        merge->lists[*out_home].at++;
    return best;
}

static pawl_status merge_rows(struct merge *merge, void **out_rows, size_t *out_count, struct pawl_error *error)
{
    size_t most = 0, count = 0, home = 0, size = merge->shape->size;
    for (size_t i = 0; i < merge->several->count; i++)
        most += merge->lists[i].count;
    most = most < merge->max ? most : merge->max;
    char *rows = pw_arena_take(merge->arena, most * size);
    if (rows == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    for (char *row; count < most && (row = take_next(merge, &home)) != NULL; count++) {
        char *kept = memcpy(rows + count * size, row, size);
        int64_t *key = number_at(kept, merge->shape->key);
        *key = pw_outer_key(merge->several, home, *key);
    }
    *out_rows = rows;
    *out_count = count;
    return PAWL_OK;
}

static struct pw_positions inner_position(const struct pw_several *several, const struct pw_positions *positions,
                                          size_t home)
{
    struct pw_positions inner = { .count = 1 };
    assert(positions == NULL || positions->count == several->count);
    if (positions != NULL)
        inner.keys[0] = pw_inner_key(several, positions->keys[home]);
    return inner;
}

/* A member that was read from its newest row on, and none of whose rows may be on the page, would begin with a newer one
 * the next time.  It is to begin with the same; where it has none at all, behind its first key there never is one. */
static void fix_starts(struct merge *merge, struct pw_positions *positions)
{
    for (size_t home = 0; home < merge->several->count; home++) {
        char *head = head_of(merge, home);
        int64_t newest = head != NULL ? *number_at(head, merge->shape->key) : 0;
        if (positions->keys[home] == 0)
            positions->keys[home] = pw_outer_key(merge->several, home, newest + 1);
    }
}

pawl_status pw_several_list_instances(struct pw_store *store, struct pw_arena *arena,
                                      const struct pw_instance_query *query, struct pw_instance **out_rows,
                                      size_t *out_count, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    struct merge merge = { several, arena, &instance_shape, !query->oldest_first, query->max, { { NULL, 0, 0 } } };
    for (size_t home = 0; home < several->count; home++) {
        if (query->parent != 0 && pw_key_home(several, query->parent) != home)
            continue; /* V8 */
        struct pw_store *member = several->members[home].store;
        struct pw_positions position = inner_position(several, query->positions, home);
        struct pw_instance_query inner = *query;
        struct pw_instance *rows = NULL;
        inner.parent = pw_inner_key(several, query->parent);
        inner.positions = &position;
        pawl_status status = pw_member_check(several, home, error);
        if (status != PAWL_OK)
            return status;
        status = member->ops->list_instances(member, arena, &inner, &rows, &merge.lists[home].count, error);
        if (pw_member_note(several, home, status, error) != PAWL_OK)
            return status;
        for (size_t i = 0; i < merge.lists[home].count; i++)
            pw_outer_link(several, home, &rows[i].link);
        merge.lists[home].rows = (char *)rows;
    }
    if (query->positions != NULL && merge.newest_first)
        fix_starts(&merge, query->positions);
    void *rows = NULL;
    pawl_status status = merge_rows(&merge, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

pawl_status pw_several_list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                                  struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    struct merge merge = { several, arena, &hook_shape, false, query->max, { { NULL, 0, 0 } } };
    for (size_t home = 0; home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        struct pw_positions position = inner_position(several, query->positions, home);
        struct pw_hook_query inner = *query;
        struct pw_hook_row *rows = NULL;
        inner.positions = &position;
        pawl_status status = pw_member_check(several, home, error);
        if (status != PAWL_OK)
            return status;
        status = member->ops->list_hooks(member, arena, &inner, &rows, &merge.lists[home].count, error);
        if (pw_member_note(several, home, status, error) != PAWL_OK)
            return status;
        merge.lists[home].rows = (char *)rows;
    }
    void *rows = NULL;
    pawl_status status = merge_rows(&merge, &rows, out_count, error);
    if (status == PAWL_OK)
        *out_rows = rows;
    return status;
}

/* Needs them all, as a list does: one that is left out would look like fewer instances. */
pawl_status pw_several_count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                      int64_t max, struct pw_status_counts *out_counts, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    struct pw_status_counts sum = { .of = { 0 } }, counts;
    for (size_t home = 0; home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        pawl_status status = pw_member_check(several, home, error);
        if (status != PAWL_OK)
            return status;
        status = member->ops->count_statuses(member, workflows, count, max, &counts, error);
        if (pw_member_note(several, home, status, error) != PAWL_OK)
            return status;
        for (size_t of = 0; of < PW_STATUS_COUNT; of++)
            sum.of[of] = counts.of[of] < max - sum.of[of] ? sum.of[of] + counts.of[of] : max;
    }
    *out_counts = sum;
    return PAWL_OK;
}
