/* test_postgres_orders.c - two sessions, all orders: whatever a claim, a renewal, a commit, a reap and an end do at the same
 * moment, they do as if one had come after the other (C1, S4); and so do parents, children, jobs, and those who may lease
 * no more than so many.
 *
 * The linker sends the store's statements through a gate of ours.  In front of each that locks, writes or commits the
 * session stands until it is its turn; one that waits for the other's lock is passed over until it has it.  So every order
 * is played once, as PostgreSQL's own isolation tests do, and must answer and end as one of the two that have no overlap;
 * or, because claims, renewals and reaps pass over what another has locked, as if these had found nothing (S7).  Whatever happened,
 * what is not over is claimed by the next who comes after the leases. */
#include "kit/store_fixture.h"

#include <libpq-fe.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

enum { SESSIONS = 2, CHOICES_MAX = 32, SIGNATURE = 400, LEASE_MS = 1000, DEAD_MS = 100000, PATIENCE = 20000 };

enum deed {
    CLAIM,
    CLAIM_EXPIRED,
    RENEW,
    COMMIT,
    REAP,
    END,
    DEED_COUNT, /* of those about one task */

    WAIT = DEED_COUNT, /* the parent parks until it has an answer */
    ANSWER,            /* the child ends, and the parent is told */
    REACH,             /* the parent ends, and with it all that it made */
    BIRTH,             /* it has another child */
    END_JOB,           /* it ends its job by name */
    WORK,              /* the job is done, and the parent is told */
    FAMILY_DEEDS_END,

    CLAIM_UP_TO = FAMILY_DEEDS_END, /* as long as no more than two are leased */
    RELEASE,                        /* what is leased ends */

    RETRY /* a parent that has failed begins again, and looks how its child is */
};
static const char *const deed_names[] = { "claim",   "claim expired", "renew",       "commit",  "reap",
                                          "end",     "wait",          "answer",      "reach",   "birth",
                                          "end job", "work",          "claim up to", "release", "retry" };

enum { RUNNING, STANDING, ENDED };

/* ---- Sessions ------------------------------------------------------------------------------------------------------ */

struct session {
    struct pw_store *store;
    enum deed deed;
    int64_t owner;
    struct pw_fence at;         /* of the lease that there is at the beginning; of a family the parent's */
    struct pw_fence child, job; /* of a family */
    struct pw_text workflow;
    struct pw_unit unit;
    struct pw_lease lease;
    pawl_status whole;
    bool saw_child_open; /* when its deed was done */

    pthread_t thread;
    atomic_int process, socket; /* of its connection, as it came to the gate; process 0: it did not yet */
    atomic_int state;           /* RUNNING, STANDING, ENDED */
    atomic_bool may_go;
};

static _Thread_local struct session *playing;     /* NULL: the gate is open */
static _Thread_local const struct session *doing; /* its deed, behind a gate or not */

int __real_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format);
int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format);

static void rest(void)
{
    const struct timespec pause = { .tv_sec = 0, .tv_nsec = 100000 };
    (void)nanosleep(&pause, NULL);
}

static bool is_gated(const char *name)
{
    static const char *const names[] = {
        "pawl_LEASE_LOCK",  "pawl_TASK_LOCK",       "pawl_CLAIM",          "pawl_REAP",        "pawl_TASK_UPDATE",
        "pawl_TASK_DELETE", "pawl_COMMIT",          "pawl_CLAIM_TRY_GATE", "pawl_CLAIM_UP_TO", "pawl_TASK_LOCK_FOUND",
        "pawl_CHILDREN",    "pawl_INSTANCE_INSERT", "pawl_INSTANCE_LOCK"
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What was sent so far is carried out before the session stands. */
static void stand(struct session *session, PGconn *db)
{
    (void)PQsendFlushRequest(db);
    while (PQflush(db) > 0)
        rest();
    atomic_store(&session->socket, PQsocket(db));
    atomic_store(&session->process, PQbackendPID(db));
    atomic_store(&session->state, STANDING);
    while (!atomic_exchange(&session->may_go, false))
        rest();
}

int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format)
{
    if (playing != NULL && is_gated(name))
        stand(playing, db);
    return __real_PQsendQueryPrepared(db, name, count, values, sizes, formats, format);
}

/* ---- What they do ---------------------------------------------------------------------------------------------------- */

static int64_t time_of(enum deed deed)
{
    bool is_later = deed == CLAIM_EXPIRED || deed == RETRY || (deed >= WAIT && deed < FAMILY_DEEDS_END);
    return FIXTURE_NOW_MS + DEAD_MS + (is_later ? 2 * LEASE_MS : deed == RENEW ? 3 * LEASE_MS / 2 : 0);
}

/* Each deed has a time of its own. */
static int64_t session_now(void *user)
{
    return doing != NULL ? time_of(doing->deed) : ((struct fixture *)user)->now_ms;
}

static struct pw_op_create *add_member(struct pw_unit *unit, struct pw_fence parent, const char *workflow,
                                       const char *id, enum pw_relation relation)
{
    struct pw_op_create *op = add_create(unit, workflow, id);
    op->link = (struct pw_link){ parent.instance, parent.run, relation };
    return op;
}

/* The one who was made ends and tells it. */
static void add_answer(struct pw_unit *unit, struct pw_fence at, struct pw_fence parent, const char *type)
{
    (void)add_fence(unit, at);
    struct pw_op_finish *finish = add_finish(unit, at, PW_OUTCOME_COMPLETE);
    finish->answer = pw_arena_zero(&unit->arena, sizeof *finish->answer);
    assert_non_null(finish->answer);
    *finish->answer = (struct pw_op_event){ .instance = parent.instance, .type = text(type) };
}

static void prepare_family(struct session *session)
{
    struct pw_unit *unit = &session->unit;
    if (session->deed == WAIT || session->deed == REACH || session->deed == BIRTH || session->deed == END_JOB)
        (void)add_fence(unit, session->at);
    switch (session->deed) {
    case WAIT:
        add_park(unit, session->at, PW_TASK_WAITING, PW_TASK_WAKE, INT32_MAX)->event_seq_seen = 0;
        break;
    case ANSWER:
        add_answer(unit, session->child, session->at, "$child");
        break;
    case REACH:
        add_finish(unit, session->at, PW_OUTCOME_TERMINATED)->reach =
            (struct pw_reach){ .parent = session->at.instance, .run = session->at.run, .demand = PW_DEMAND_TERMINATE };
        break;
    case BIRTH:
        (void)add_member(unit, session->at, session->workflow.data, "born", PW_RELATION_ATTACHED);
        break;
    case END_JOB:
        add(unit, PW_OP_END)->as.end = (struct pw_op_end){ session->workflow, pw_text_of("job"), 0 };
        break;
    default:
        add_answer(unit, session->job, session->at, "$job");
        break;
    }
}

static void prepare(struct session *session)
{
    struct pw_unit *unit = &session->unit;
    pw_unit_init(unit);
    switch (session->deed) {
    case CLAIM:
    case CLAIM_EXPIRED:
        add(unit, PW_OP_CLAIM)->as.claim = (struct pw_op_claim){ .workflows = &session->workflow,
                                                                 .workflow_count = 1,
                                                                 .max = 4,
                                                                 .owner = session->owner,
                                                                 .lease_ms = LEASE_MS };
        break;
    case RENEW:
        session->lease = (struct pw_lease){ .fence = session->at };
        add(unit, PW_OP_RENEW)->as.renew = (struct pw_op_renew){ FIXTURE_OWNER, LEASE_MS, &session->lease, 1 };
        break;
    case COMMIT:
        (void)add_fence(unit, session->at);
        (void)add_step(unit, session->at, 1, "step");
        (void)add_park(unit, session->at, PW_TASK_ACTIVE, PW_TASK_RETRY, PW_NOW);
        break;
    case REAP:
        (void)add(unit, PW_OP_REAP);
        break;
    case END:
        (void)add_fence(unit, session->at);
        (void)add_finish(unit, session->at, PW_OUTCOME_TERMINATED);
        break;
    case CLAIM_UP_TO:
        add(unit, PW_OP_CLAIM)->as.claim = (struct pw_op_claim){ .workflows = &session->workflow,
                                                                 .workflow_count = 1,
                                                                 .max = 4,
                                                                 .leased_max = 2,
                                                                 .owner = FIXTURE_OUTSIDE,
                                                                 .lease_ms = LEASE_MS };
        break;
    case RELEASE:
        (void)add_fence(unit, session->at);
        (void)add_finish(unit, session->at, PW_OUTCOME_COMPLETE);
        break;
    case RETRY:
        add(unit, PW_OP_RESTART)->as.restart =
            (struct pw_op_restart){ .instance = session->at.instance, .run = session->at.run };
        break;
    default:
        prepare_family(session);
        break;
    }
}

/* What the first turn of the new run reads. */
static bool sees_child_open(const struct session *session)
{
    struct pw_arena arena = { 0 };
    struct pw_instance child = { .outcome = PW_OUTCOME_OPEN };
    pawl_status status = pw_read_instance_by_key(session->store, &arena, session->child.instance, &child, NULL);
    bool is_open = status == PAWL_OK && child.outcome == PW_OUTCOME_OPEN;
    pw_arena_clear(&arena);
    return is_open;
}

static void do_deed(struct session *session, struct pawl_error *error)
{
    struct pw_unit *unit = &session->unit;
    doing = session;
    session->whole = session->store->ops->apply(session->store, &unit, 1, error);
    if (session->deed == RETRY)
        session->saw_child_open = sees_child_open(session);
    doing = NULL;
}

static void *play_session(void *user)
{
    struct session *session = user;
    struct pawl_error error = { PAWL_OK, "" };
    playing = session;
    do_deed(session, &error);
    if (session->whole != PAWL_OK)
        print_error("%s: %s\n", deed_names[session->deed], error.text);
    atomic_store(&session->state, ENDED);
    return NULL;
}

static void tell(const struct session *session, char *text, size_t size)
{
    const struct pw_op *first = session->unit.first, *last = session->unit.last;
    size_t used =
        (size_t)snprintf(text, size, "%s: %s", deed_names[session->deed], pawl_status_name(session->unit.status));
    if (session->deed == CLAIM || session->deed == CLAIM_EXPIRED || session->deed == CLAIM_UP_TO)
        (void)snprintf(text + used, size - used, " %zu at epoch %d", first->as.claim.claim_count,
                       first->as.claim.claim_count > 0 ? (int)first->as.claim.claims[0].fence.epoch : 0);
    if (session->deed == RENEW)
        (void)snprintf(text + used, size - used, "%s", session->lease.lost ? " lost" : " held");
    if (session->deed == REAP)
        (void)snprintf(text + used, size - used, " %d", (int)first->as.reap.reaped);
    if (session->unit.status != PAWL_OK)
        return;
    if (session->deed == ANSWER || session->deed == WORK)
        (void)snprintf(text + used, size - used, "%s%s", last->as.finish.answer->recorded ? " recorded" : " unheard",
                       last->as.finish.answer->woke ? " woke" : "");
    if (session->deed == RETRY)
        (void)snprintf(text + used, size - used, "%s", session->saw_child_open ? " before it ends" : " after its end");
    if (session->deed == REACH)
        (void)snprintf(text + used, size - used, " %d", (int)last->as.finish.reach.reached);
    if (session->deed == END_JOB)
        (void)snprintf(text + used, size - used, "%s", last->as.end.instance != 0 ? " ended" : " nothing");
}

/* ---- Scenes -------------------------------------------------------------------------------------------------------------- */

struct orders;

/* What there is at the beginning, and what became of it; the latter asserts what must be so in any order. */
struct scene {
    void (*set)(struct orders *orders);
    void (*sign)(struct orders *orders, char *signature, size_t size);
};

/* ---- The conductor ------------------------------------------------------------------------------------------------------ */

struct orders {
    struct fixture *fixture;
    struct session sessions[SESSIONS];
    struct pw_store *clinic; /* whose runner is dead */
    const struct scene *scene;
    char workflow[32];        /* of its own for each play */
    int choices[CHOICES_MAX]; /* who went, wherever both could */
    int depth, choices_made;
    int played, blocked;
    int numbers; /* of instances */
};

enum standing { READY, BLOCKED, OVER };

static char wait_of(struct orders *orders, const struct session *session)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql,
                   "SELECT CASE wait_event_type WHEN 'Client' THEN 1 WHEN 'Lock' THEN 2 ELSE 0 END"
                   " FROM pg_stat_activity WHERE pid = %d",
                   atomic_load(&session->process));
    return (char)query_number(orders->fixture, sql);
}

/* Until the server has done all that it was given, or waits for the other's lock. */
static enum standing settle(struct orders *orders, struct session *session)
{
    for (int round = 0; round < PATIENCE; round++) {
        int state = atomic_load(&session->state), unread = 1;
        if (state == ENDED)
            return OVER;
        char waits = atomic_load(&session->process) != 0 ? wait_of(orders, session) : 0;
        if (state == STANDING)
            (void)ioctl(atomic_load(&session->socket), SIOCOUTQ, &unread);
        if (waits == 2)
            return BLOCKED;
        if (state == STANDING && unread == 0 && waits == 1 && wait_of(orders, session) == 1)
            return READY;
        rest();
    }
    fail_msg("%s comes to no end", deed_names[session->deed]);
    return OVER;
}

/* The next one of those who can; where both can, it is the order's choice. */
static int choose(struct orders *orders, const enum standing *standings)
{
    if (standings[0] != READY || standings[1] != READY)
        return standings[0] == READY ? 0 : 1;
    assert_true(orders->choices_made < CHOICES_MAX);
    if (orders->choices_made == orders->depth)
        orders->choices[orders->depth++] = 0;
    return orders->choices[orders->choices_made++];
}

static void conduct(struct orders *orders)
{
    for (;;) {
        enum standing standings[SESSIONS];
        bool has_blocked = false;
        for (int i = 0; i < SESSIONS; i++) {
            standings[i] = settle(orders, &orders->sessions[i]);
            has_blocked = has_blocked || standings[i] == BLOCKED;
        }
        if (standings[0] == OVER && standings[1] == OVER)
            return;
        orders->blocked += has_blocked;
        struct session *next = &orders->sessions[choose(orders, standings)];
        if (standings[next - orders->sessions] != READY) /* it was let go of since we looked */
            continue;
        atomic_store(&next->state, RUNNING);
        atomic_store(&next->may_go, true);
    }
}

/* ---- One play ------------------------------------------------------------------------------------------------------------ */

/* An instance that a dead runner holds. */
static void set_lease(struct orders *orders)
{
    struct fixture *fixture = orders->fixture;
    assert_int_equal(orders->clinic->ops->announce(orders->clinic, FIXTURE_OWNER, &fixture->error), PAWL_OK);
    orders->clinic->ops->withdraw(orders->clinic, FIXTURE_OWNER);
    struct pw_fence at = create_held(fixture, orders->workflow, "i");
    for (int i = 0; i < SESSIONS; i++)
        orders->sessions[i].at = at;
}

static void set_scene(struct orders *orders, enum deed first, enum deed second)
{
    struct fixture *fixture = orders->fixture;
    const enum deed deeds[SESSIONS] = { first, second };
    run_raw_sql(fixture, "DELETE FROM workflow_task");
    (void)snprintf(orders->workflow, sizeof orders->workflow, "w-%d", ++orders->numbers);
    fixture->now_ms = FIXTURE_NOW_MS + DEAD_MS;
    orders->scene->set(orders);
    for (int i = 0; i < SESSIONS; i++) {
        struct session *session = &orders->sessions[i];
        session->deed = deeds[i];
        session->owner = 100 + i;
        session->workflow = pw_text_of(orders->workflow);
        atomic_store(&session->process, 0);
        atomic_store(&session->state, RUNNING);
        atomic_store(&session->may_go, false);
        prepare(session);
    }
}

static int moves_of(const struct session *session)
{
    bool did = session->unit.status == PAWL_OK;
    if (session->deed == CLAIM || session->deed == CLAIM_EXPIRED)
        return did ? (int)session->unit.first->as.claim.claim_count : 0;
    return did && session->deed == COMMIT;
}

/* Each promise by itself; whoever moves the task raises its epoch, so a move that was overwritten would show. */
static void check_promises(struct orders *orders, const struct pw_instance *row)
{
    const struct session *sessions = orders->sessions;
    int moves = 0, commits = 0;
    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(sessions[i].whole, PAWL_OK);
        moves += moves_of(&sessions[i]);
        commits += sessions[i].deed == COMMIT && sessions[i].unit.status == PAWL_OK;
        const struct pw_op_claim *claim = &sessions[i].unit.first->as.claim;
        if (moves_of(&sessions[i]) == 1 && sessions[i].deed != COMMIT && row->has_task &&
            claim->claims[0].fence.epoch == row->task.epoch) {
            assert_true(row->task.processing);
            assert_int_equal(row->task.owner, sessions[i].owner); /* the newest claim is the only owner */
        }
    }
    assert_in_range(commits, 0, 1);
    assert_int_equal(step_count(orders->fixture, sessions[0].at), commits); /* a lost lease commits nothing */
    if (row->has_task)
        assert_int_equal(row->task.epoch, 1 + moves);
    else
        assert_int_equal(row->outcome, PW_OUTCOME_TERMINATED);
}

static void sign_lease(struct orders *orders, char *signature, size_t size)
{
    struct pw_instance row = read_key(orders->fixture, orders->sessions[0].at.instance);
    check_promises(orders, &row);
    (void)snprintf(signature, size, "outcome %d, task %d: epoch %d, status %d, owner %d, until %d", (int)row.outcome,
                   row.has_task, (int)row.task.epoch, (int)row.task.status, (int)row.task.owner,
                   (int)(row.task.locked_until_ms - FIXTURE_NOW_MS));
}

static const struct scene one_lease = { set_lease, sign_lease };

/* Nothing is lost: what is not over is claimed by the next who comes after the leases. */
static void check_nothing_is_lost(struct orders *orders)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM workflow_task WHERE workflow = '%s'", orders->workflow);
    int64_t count = query_number(orders->fixture, sql);
    orders->fixture->now_ms = INT32_MAX;
    struct pw_op_claim *claim = fixture_claim(orders->fixture, &orders->sessions[0].workflow, 1, 9);
    assert_int_equal(claim->claim_count, count);
    fixture_clear_units(orders->fixture);
}

static void sign(struct orders *orders, char signature[SIGNATURE])
{
    char first[96], second[96], state[SIGNATURE - 200];
    orders->scene->sign(orders, state, sizeof state);
    tell(&orders->sessions[0], first, sizeof first);
    tell(&orders->sessions[1], second, sizeof second);
    (void)snprintf(signature, SIGNATURE, "%s, %s; %s", first, second, state);
    for (int i = 0; i < SESSIONS; i++)
        pw_unit_clear(&orders->sessions[i].unit);
    check_nothing_is_lost(orders);
}

/* One after the other, `leader` first, and only so many of them: who is left out has found nothing. */
static void play_apart(struct orders *orders, enum deed first, enum deed second, int leader, int count,
                       char signature[SIGNATURE])
{
    set_scene(orders, first, second);
    for (int i = 0; i < SESSIONS; i++) {
        struct session *session = &orders->sessions[(leader + i) % SESSIONS];
        session->whole = session->unit.status = PAWL_OK;
        if (i < count)
            do_deed(session, NULL);
    }
    sign(orders, signature);
}

static void play_together(struct orders *orders, enum deed first, enum deed second, char signature[SIGNATURE])
{
    set_scene(orders, first, second);
    orders->choices_made = 0;
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(pthread_create(&orders->sessions[i].thread, NULL, play_session, &orders->sessions[i]), 0);
    conduct(orders);
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(pthread_join(orders->sessions[i].thread, NULL), 0);
    orders->played++;
    sign(orders, signature);
}

/* The last choice that has another side is turned; false: all were played. */
static bool next_order(struct orders *orders)
{
    while (orders->depth > 0 && orders->choices[orders->depth - 1] == 1)
        orders->depth--;
    if (orders->depth == 0)
        return false;
    orders->choices[orders->depth - 1] = 1;
    return true;
}

static bool may_find_nothing(enum deed deed)
{
    return deed == CLAIM || deed == CLAIM_EXPIRED || deed == CLAIM_UP_TO || deed == RENEW || deed == REAP;
}

/* How it may end; returns how many ways there are. */
static int play_all_apart(struct orders *orders, enum deed first, enum deed second, char ways[4][SIGNATURE])
{
    int count = 0;
    play_apart(orders, first, second, 0, SESSIONS, ways[count++]);
    play_apart(orders, first, second, 1, SESSIONS, ways[count++]);
    if (may_find_nothing(second))
        play_apart(orders, first, second, 0, 1, ways[count++]);
    if (may_find_nothing(first))
        play_apart(orders, first, second, 1, 1, ways[count++]);
    return count;
}

static void play_pair(struct orders *orders, enum deed first, enum deed second)
{
    char ways[4][SIGNATURE], together[SIGNATURE];
    int count = play_all_apart(orders, first, second, ways);
    orders->depth = 0;
    do {
        int way = 0;
        play_together(orders, first, second, together);
        while (way < count && strcmp(together, ways[way]) != 0)
            way++;
        if (way == count) {
            char order[CHOICES_MAX + 1] = "";
            for (int i = 0; i < orders->depth; i++)
                order[i] = (char)('0' + orders->choices[i]);
            fail_msg("order %s: %s\nneither %s\nnor %s", order, together, ways[0], ways[1]);
        }
    } while (next_order(orders));
}

/* ---- Families ------------------------------------------------------------------------------------------------------------- */

/* A parent that runs, a child and a job of its; nobody has renewed their leases when the deeds are done. */
static void set_family(struct orders *orders)
{
    struct fixture *fixture = orders->fixture;
    struct pw_fence at = create_held(fixture, orders->workflow, "parent");
    struct pw_unit *unit = fixture_unit(fixture);
    struct pw_op_create *child = add_member(unit, at, orders->workflow, "child", PW_RELATION_ATTACHED);
    struct pw_op_create *job = add_member(unit, at, orders->workflow, "job", PW_RELATION_JOB);
    child->hold_owner = job->hold_owner = FIXTURE_OWNER;
    child->hold_lease_ms = job->hold_lease_ms = LEASE_MS;
    fixture_apply(fixture);
    for (int i = 0; i < SESSIONS; i++) {
        orders->sessions[i].at = at;
        orders->sessions[i].child = child->fence;
        orders->sessions[i].job = job->fence;
    }
    fixture_clear_units(fixture);
}

static size_t list_children(struct orders *orders, struct pw_instance **out_rows)
{
    struct fixture *fixture = orders->fixture;
    struct pw_instance_query query = {
        .by = PW_BY_PARENT, .number = orders->sessions[0].at.instance, .oldest_first = true, .max = 9
    };
    size_t count = 0;
    assert_int_equal(pw_list_instances(fixture->store, &fixture->arena, &query, out_rows, &count, &fixture->error),
                     PAWL_OK);
    return count;
}

static size_t put_instance(char *text, size_t size, const struct pw_instance *row)
{
    return (size_t)snprintf(text, size, "%.*s %d/%d/%d/%d/%d/%d ", (int)row->id.size, row->id.data, (int)row->outcome,
                            (int)row->task.epoch, (int)row->task.status, (int)row->task.kind, (int)row->task.demand,
                            row->task.processing);
}

/* A parent never sleeps over an answer, and no child or job goes on as if its parent had not ended. */
static void sign_family(struct orders *orders, char *signature, size_t size)
{
    struct pw_instance parent = read_key(orders->fixture, orders->sessions[0].at.instance), *rows = NULL;
    size_t count = list_children(orders, &rows), used = put_instance(signature, size, &parent);
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(orders->sessions[i].whole, PAWL_OK);
    if (parent.has_task && !parent.task.processing && parent.task.event_seq > 0)
        assert_true(parent.task.due_at_ms <= time_of(WAIT));
    for (size_t i = 0; i < count; i++) {
        used += put_instance(signature + used, size - used, &rows[i]);
        if (!parent.has_task && rows[i].has_task) {
            assert_int_equal(rows[i].link.relation, PW_RELATION_ATTACHED);
            assert_int_equal(rows[i].task.demand, PW_DEMAND_TERMINATE);
            assert_false(rows[i].task.processing);
        }
    }
    (void)snprintf(signature + used, size - used, "%d events", (int)parent.task.event_seq);
}

static const struct scene family = { set_family, sign_family };

/* The parent has failed, and its child has not ended. */
static void set_failed_parent(struct orders *orders)
{
    set_family(orders);
    (void)add_finish(fixture_unit(orders->fixture), orders->sessions[0].at, PW_OUTCOME_ERRORED);
    fixture_apply_all(orders->fixture);
}

/* Who looked at the child before it ended is told of its end. */
static void sign_retried(struct orders *orders, char *signature, size_t size)
{
    struct pw_instance parent = read_key(orders->fixture, orders->sessions[0].at.instance);
    size_t used = put_instance(signature, size, &parent);
    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(orders->sessions[i].whole, PAWL_OK);
        if (orders->sessions[i].deed == RETRY && orders->sessions[i].saw_child_open)
            assert_int_equal(parent.task.event_seq, 1);
    }
    (void)snprintf(signature + used, size - used, "run %d, %d events", (int)parent.run, (int)parent.task.event_seq);
}

static const struct scene failed_parent = { set_failed_parent, sign_retried };

/* ---- Only so many at once --------------------------------------------------------------------------------------------------- */

/* One that is leased, and two that could be. */
static void set_queue(struct orders *orders)
{
    struct pw_fence at = create_held(orders->fixture, orders->workflow, "leased");
    (void)create_instance(orders->fixture, orders->workflow, "a");
    (void)create_instance(orders->fixture, orders->workflow, "b");
    for (int i = 0; i < SESSIONS; i++)
        orders->sessions[i].at = at;
}

static void sign_queue(struct orders *orders, char *signature, size_t size)
{
    char sql[160];
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM workflow_task WHERE workflow = '%s' AND processing = 1",
                   orders->workflow);
    int64_t leased = query_number(orders->fixture, sql);
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(orders->sessions[i].whole, PAWL_OK);
    assert_in_range(leased, 0, 2);
    (void)snprintf(signature, size, "%d leased", (int)leased);
}

static const struct scene queue = { set_queue, sign_queue };

/* ---- All -------------------------------------------------------------------------------------------------------------------- */

static struct orders *begin_orders(struct fixture *fixture, const struct scene *scene)
{
    struct orders *orders = calloc(1, sizeof *orders);
    assert_non_null(orders);
    orders->fixture = fixture;
    orders->scene = scene;
    orders->clinic = fixture_open_store(fixture);
    for (int i = 0; i < SESSIONS; i++) {
        struct pawl_clock clock = { .now_ms = session_now, .user = fixture };
        assert_int_equal(pw_store_open(fixture->url, clock, &orders->sessions[i].store, &fixture->error), PAWL_OK);
    }
    return orders;
}

/* With at least so many orders, so many times with somebody waiting. */
static void end_orders(struct orders *orders, int least_played, int least_blocked)
{
    print_message("%d orders, %d times somebody waited for the other's lock\n", orders->played, orders->blocked);
    assert_true(orders->played >= least_played);
    assert_true(orders->blocked >= least_blocked);
    for (int i = 0; i < SESSIONS; i++)
        orders->sessions[i].store->ops->close(orders->sessions[i].store);
    orders->clinic->ops->close(orders->clinic);
    free(orders);
}

TEST_IN(on_postgres, fixture, any_two_at_once_are_as_one_after_the_other_in_every_order) /* C1, S4 */
{
    struct orders *orders = begin_orders(fixture, &one_lease);
    for (int first = 0; first < DEED_COUNT; first++)
        for (int second = first; second < DEED_COUNT; second++)
            play_pair(orders, (enum deed)first, (enum deed)second);
    end_orders(orders, 60, 10);
}

TEST_IN(on_postgres, fixture, so_are_any_two_of_a_family) /* A14, F1, G1, S7 */
{
    struct orders *orders = begin_orders(fixture, &family);
    for (int first = WAIT; first < FAMILY_DEEDS_END; first++)
        for (int second = first; second < FAMILY_DEEDS_END; second++)
            play_pair(orders, (enum deed)first, (enum deed)second);
    end_orders(orders, 60, 20);
}

TEST_IN(on_postgres, fixture, no_two_who_claim_at_once_lease_more_than_there_may_be) /* G1 */
{
    struct orders *orders = begin_orders(fixture, &queue);
    play_pair(orders, CLAIM_UP_TO, CLAIM_UP_TO);
    play_pair(orders, CLAIM_UP_TO, RELEASE);
    end_orders(orders, 4, 0); /* who finds the other claiming does not wait */
}

TEST_IN(on_postgres, fixture, a_parent_that_begins_again_while_its_child_ends_is_told_or_sees_it) /* A14 */
{
    struct orders *orders = begin_orders(fixture, &failed_parent);
    play_pair(orders, ANSWER, RETRY);
    end_orders(orders, 4, 1);
}
