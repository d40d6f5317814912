/* several.c - opening and closing a store made of several, who sits where, and its table of functions. */
#include "store/several/several.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"

static size_t member_lanes(struct pw_store *store)
{
    size_t lanes = store->ops->lanes != NULL ? store->ops->lanes(store) : 1;
    return lanes > 0 ? lanes : 1;
}

/* ---- Passing on ---------------------------------------------------------------------------------------------- */

static int64_t now_ms(struct pw_store *store)
{
    struct pw_store *first = ((struct pw_several *)store)->members[0].store;
    return first->ops->now_ms(first);
}

static size_t homes(struct pw_store *store)
{
    return ((const struct pw_several *)store)->count;
}

/* The last is that of divided units. */
static size_t lanes(struct pw_store *store)
{
    const struct pw_several *several = (const struct pw_several *)store;
    const struct pw_member *last = &several->members[several->count - 1];
    return last->lane_first + last->lane_count + 1;
}

static size_t lane_of(struct pw_store *store, const struct pw_unit *unit)
{
    const struct pw_several *several = (const struct pw_several *)store;
    size_t home = pw_unit_home(several, unit);
    if (home >= several->count)
        return lanes(store) - 1;
    const struct pw_member *member = &several->members[home];
    return member->lane_first + (size_t)(pw_unit_key(unit) / several->count % member->lane_count);
}

static void withdraw(struct pw_store *store, int64_t owner)
{
    struct pw_several *several = (struct pw_several *)store;
    for (size_t home = 0; home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        member->ops->withdraw(member, owner);
    }
}

static pawl_status announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    for (size_t home = 0; home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        pawl_status status = member->ops->announce(member, owner, error);
        while (status != PAWL_OK && home > 0) {
            member = several->members[--home].store;
            member->ops->withdraw(member, owner);
        }
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static void listen_to_all(struct pw_store *store, void (*due)(void *user), void *user)
{
    struct pw_several *several = (struct pw_several *)store;
    for (size_t home = 0; home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        if (member->ops->listen != NULL)
            member->ops->listen(member, due, user);
    }
}

/* ---- Seats --------------------------------------------------------------------------------------------------- */

static pawl_status refuse_seat(size_t home, size_t count, const struct pw_seat *seat, struct pawl_error *error)
{
    if (seat->set == 0)
        return pw_error(
            error, PAWL_INVALID,
            "database %zu of the %zu named has no place in a store of several, but %s; name an empty one, or "
            "open it alone",
            home + 1, count, seat->is_empty ? "others of them have instances" : "has instances of its own");
    return pw_error(
        error, PAWL_INVALID,
        "database %zu of the %zu named is number %lld of %lld of a store; name all that belong together, in "
        "their order",
        home + 1, count, (long long)seat->number + 1, (long long)seat->count);
}

/* What is there already must be right, and what has no seat must be new, before anything is written. */
static pawl_status check_seats(const struct pw_seat *seats, size_t count, struct pawl_error *error)
{
    int64_t set = 0;
    bool any_used = false;
    for (size_t home = 0; home < count; home++) {
        const struct pw_seat *seat = &seats[home];
        any_used = any_used || !seat->is_empty;
        if (seat->set == 0 && !seat->is_empty)
            return refuse_seat(home, count, seat, error);
        if (seat->set != 0 && (seat->number != (int64_t)home || seat->count != (int64_t)count))
            return refuse_seat(home, count, seat, error);
        if (seat->set != 0 && set != 0 && seat->set != set)
            return pw_error(
                error, PAWL_INVALID,
                "database %zu of the %zu named belongs to another store than those before it; name databases "
                "that were first opened together",
                home + 1, count);
        set = seat->set != 0 ? seat->set : set;
    }
    for (size_t home = 0; any_used && home < count; home++)
        if (seats[home].set == 0)
            return refuse_seat(home, count, &seats[home], error);
    return PAWL_OK;
}

static pawl_status look_at_seats(struct pw_several *several, struct pw_seat *seats, struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    for (size_t home = 0; status == PAWL_OK && home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        status = member->ops->take_seat(member, NULL, &seats[home], error);
    }
    return status;
}

/* Where several processes do it at once for the first time, whoever takes the first seat names the set. */
static pawl_status take_seats(struct pw_several *several, struct pw_seat *seats, struct pawl_error *error)
{
    struct pw_seat wanted = { .count = (int64_t)several->count };
    for (size_t home = 0; home < several->count; home++)
        wanted.set = seats[home].set != 0 ? seats[home].set : wanted.set;
    if (wanted.set == 0)
        pw_system_random(NULL, &wanted.set, sizeof wanted.set);
    wanted.set = (wanted.set & INT64_MAX) | 1; /* never 0 */
    pawl_status status = PAWL_OK;
    for (size_t home = 0; status == PAWL_OK && home < several->count; home++) {
        struct pw_store *member = several->members[home].store;
        wanted.number = (int64_t)home;
        if (seats[home].set == 0)
            status = member->ops->take_seat(member, &wanted, &seats[home], error);
        wanted.set = seats[home].set != 0 ? seats[home].set : wanted.set;
    }
    return status == PAWL_OK ? check_seats(seats, several->count, error) : status;
}

static pawl_status be_seated(struct pw_several *several, struct pawl_error *error)
{
    struct pw_seat seats[PW_HOMES_MAX];
    pawl_status status = look_at_seats(several, seats, error);
    if (status == PAWL_OK)
        status = check_seats(seats, several->count, error);
    if (status == PAWL_OK)
        status = take_seats(several, seats, error);
    return status;
}

/* ---- Opening and closing ------------------------------------------------------------------------------------- */

static void close_members(struct pw_several *several)
{
    while (several->count > 0) {
        struct pw_store *member = several->members[--several->count].store;
        member->ops->close(member);
    }
}

static void close_store(struct pw_store *store)
{
    struct pw_several *several = (struct pw_several *)store;
    pw_several_stop_probing(several);
    close_members(several);
    (void)pthread_cond_destroy(&several->wake);
    (void)pthread_cond_destroy(&several->left);
    (void)pthread_mutex_destroy(&several->lock);
    free(several);
}

static const struct pw_store_ops several_ops = {
    .name = "several",
    .close = close_store,
    .now_ms = now_ms,
    .lanes = lanes,
    .lane_of = lane_of,
    .homes = homes,
    .apply = pw_several_apply,
    .read_instance = pw_several_read_instance,
    .read_instance_by_key = pw_several_read_instance_by_key,
    .read_current = pw_several_read_current,
    .list_instances = pw_several_list_instances,
    .read_steps = pw_several_read_steps,
    .read_events = pw_several_read_events,
    .read_logs = pw_several_read_logs,
    .read_new_events = pw_several_read_new_events,
    .read_waiting_steps = pw_several_read_waiting_steps,
    .read_run = pw_several_read_run,
    .next_due = pw_several_next_due,
    .count_tasks = pw_several_count_tasks,
    .count_statuses = pw_several_count_statuses,
    .list_hooks = pw_several_list_hooks,
    .next_hook = pw_several_next_hook,
    .announce = announce,
    .withdraw = withdraw,
    .describe = pw_several_describe,
    .list_runners = pw_several_list_runners,
    .listen = listen_to_all,
};

static struct pw_several *several_new(void)
{
    struct pw_several *several = calloc(1, sizeof *several);
    if (several == NULL)
        return NULL;
    several->ops = several_ops;
    several->store.ops = &several->ops;
    if (pthread_mutex_init(&several->lock, NULL) != 0)
        goto no_lock;
    if (!pw_cond_init(&several->left))
        goto no_left;
    if (!pw_cond_init(&several->wake))
        goto no_wake;
    return several;
no_wake:
    (void)pthread_cond_destroy(&several->left);
no_left:
    (void)pthread_mutex_destroy(&several->lock);
no_lock:
    free(several);
    return NULL;
}

/* The user's functions are handed a connection, and must know whose. */
static pawl_status check_kinds(const struct pw_several *several, struct pawl_error *error)
{
    const char *kind = several->members[0].store->ops->name;
    for (size_t home = 1; home < several->count; home++)
        if (strcmp(several->members[home].store->ops->name, kind) != 0)
            return pw_error(
                error, PAWL_INVALID,
                "database %zu of the %zu named is of another kind than the first; a store is made of SQLite "
                "files or of PostgreSQL databases, not of both",
                home + 1, several->count);
    return PAWL_OK;
}

pawl_status pw_several_open(const char *const *urls, size_t count, struct pawl_clock clock, struct pw_store **out_store,
                            struct pawl_error *error)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(urls[i], urls[j]) == 0 && strcmp(urls[i], "sqlite::memory:") != 0)
                return pw_error(error, PAWL_INVALID, "databases %zu and %zu of the %zu named are the same one", j + 1,
                                i + 1, count);
    struct pw_several *several = several_new();
    if (several == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status = PAWL_OK;
    size_t lane_first = 0;
    while (status == PAWL_OK && several->count < count) {
        struct pw_member *member = &several->members[several->count];
        status = pw_store_open_one(urls[several->count], clock, &member->store, error);
        if (status != PAWL_OK)
            break;
        several->count++;
        member->lane_first = lane_first;
        member->lane_count = member_lanes(member->store);
        lane_first += member->lane_count;
    }
    if (status == PAWL_OK)
        status = check_kinds(several, error);
    if (status == PAWL_OK)
        status = be_seated(several, error);
    if (status == PAWL_OK && several->members[0].store->ops->read_run == NULL)
        several->ops.read_run = NULL;
    if (status == PAWL_OK)
        *out_store = &several->store;
    else
        close_store(&several->store);
    return status;
}
