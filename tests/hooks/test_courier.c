/* test_courier.c - C7 for real: couriers' threads, two engines on one file, a process that is killed while it delivers. */
#include "kit/running.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = RUNNING_SLOWLY ? 40 : 150, IDS_MAX = 1024 };

/* What the hooks of a test heard, of all engines and threads. */
struct post {
    pthread_mutex_t lock;
    char ids[IDS_MAX][32];
    int count;
    int64_t attempt; /* of the newest */
    int failures;    /* how many more times it fails */
    struct gate gate;
};

static struct post *post_new(bool is_open)
{
    struct post *post = calloc(1, sizeof *post);
    assert_non_null(post);
    pthread_mutex_init(&post->lock, NULL);
    gate_init(&post->gate);
    if (is_open)
        gate_open(&post->gate);
    return post;
}

static void post_free(struct post *post)
{
    gate_clear(&post->gate);
    pthread_mutex_destroy(&post->lock);
    free(post);
}

static pawl_status deliver(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    struct post *post = user;
    pthread_mutex_lock(&post->lock);
    bool fails = post->failures > 0;
    post->failures -= fails;
    post->attempt = delivery->attempt;
    if (!fails && post->count < IDS_MAX)
        snprintf(post->ids[post->count++], sizeof post->ids[0], "%s", delivery->id);
    pthread_mutex_unlock(&post->lock);
    if (fails)
        snprintf(error->text, sizeof error->text, "not yet");
    return fails || !gate_pass(&post->gate) ? PAWL_FAILED : PAWL_OK;
}

static int heard(struct post *post)
{
    pthread_mutex_lock(&post->lock);
    int count = post->count;
    pthread_mutex_unlock(&post->lock);
    return count;
}

static int compare_ids(const void *left, const void *right)
{
    return strcmp(left, right);
}

static int distinct(struct post *post)
{
    int count = 0;
    qsort(post->ids, (size_t)post->count, sizeof post->ids[0], compare_ids);
    for (int i = 0; i < post->count; i++)
        count += i == 0 || strcmp(post->ids[i - 1], post->ids[i]) != 0;
    return count;
}

/* ---- Engines ------------------------------------------------------------------------------------------------- */

WORKFLOW(nothing)
{
    return pawl_return(run, out_result, "i", 1);
}

static void open_with_hook(struct running *running, const char *path, struct post *post)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    running_open_path(running, path);
    running_register(running, "w", nothing, NULL);
    hook.name = "post";
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = deliver;
    hook.user = post;
    hook.delay_ms = 5;
    assert_ok(pawl_hook_register(running->engine, &hook, &running->error), running->error);
}

static pawl_courier *start_courier(struct running *running, int32_t threads)
{
    pawl_courier *courier = NULL;
    assert_ok(pawl_courier_start(running->engine, threads, &courier, &running->error), running->error);
    return courier;
}

static void create_runs(struct running *running, int from, int count)
{
    for (int i = from; i < from + count; i++) {
        char id[16];
        snprintf(id, sizeof id, "run-%d", i);
        running_create(running, "w", id);
    }
}

static size_t left_over(struct running *running)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page;
    options.page_size = 100;
    assert_ok(pawl_list_deliveries(running->engine, running->scope, &options, &page, &running->error), running->error);
    return page.count;
}

/* Until so many were heard and all is settled. */
static void await_post(struct running *running, struct post *post, int expected)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while ((heard(post) < expected || left_over(running) > 0) && monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(heard(post), expected);
    assert_int_equal(left_over(running), 0);
}

/* ---- Tests --------------------------------------------------------------------------------------------------- */

TEST(a_courier_delivers_everything_once_while_runs_go_on)
{
    struct running running;
    struct post *post = post_new(true);
    open_with_hook(&running, "", post);
    pawl_courier *courier = start_courier(&running, 0);
    running_start(&running, NULL);
    create_runs(&running, 0, RUNS);
    await_post(&running, post, 2 * RUNS); /* created, finished */
    assert_int_equal(distinct(post), 2 * RUNS);
    pawl_courier_stop(courier);
    running_close(&running);
    post_free(post);
}

TEST(a_courier_tries_again_by_itself)
{
    struct running running;
    struct post *post = post_new(true);
    open_with_hook(&running, "", post);
    post->failures = 3;
    pawl_courier *courier = start_courier(&running, 1);
    create_runs(&running, 0, 1);
    await_post(&running, post, 1);
    assert_int_equal(post->attempt, 4);
    pawl_courier_stop(courier);
    running_close(&running);
    post_free(post);
}

static void *stop_courier(void *courier)
{
    pawl_courier_stop(courier);
    return NULL;
}

TEST(a_courier_delivers_as_many_at_once_as_it_has_threads_and_stopping_waits_for_them)
{
    struct running running;
    struct post *post = post_new(false);
    pthread_t stopper;
    open_with_hook(&running, "", post);
    pawl_courier *courier = start_courier(&running, 3);
    create_runs(&running, 0, 5);
    gate_await(&post->gate, 3);
    assert_int_equal(heard(post), 3);
    assert_int_equal(pthread_create(&stopper, NULL, stop_courier, courier), 0);
    rest_a_little();
    assert_int_equal(left_over(&running), 5); /* none is settled before it is over */
    gate_open(&post->gate);
    assert_int_equal(pthread_join(stopper, NULL), 0);
    size_t left = left_over(&running);
    assert_int_equal((size_t)heard(post) + left, 5); /* what was begun is settled; the rest stays */

    courier = start_courier(&running, 1);
    await_post(&running, post, 5);
    pawl_courier_stop(courier);
    running_close(&running);
    post_free(post);
}

/* The one's deliveries all hang, and there are more of them than threads; the other's go through all the same. */
TEST(a_hook_that_hangs_does_not_hold_up_the_others)
{
    struct running running;
    struct post *hanging = post_new(false), *healthy = post_new(true);
    struct pawl_hook hook = PAWL_HOOK_INIT;
    open_with_hook(&running, "", hanging);
    hook.name = "healthy";
    hook.events = PAWL_HOOK_ENQUEUED;
    hook.deliver = deliver;
    hook.user = healthy;
    assert_ok(pawl_hook_register(running.engine, &hook, &running.error), running.error);
    pawl_courier *courier = start_courier(&running, 3);
    create_runs(&running, 0, 10);
    gate_await(&hanging->gate, 2); /* its share */
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (heard(healthy) < 10 && monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(heard(healthy), 10);
    assert_int_equal(gate_entered(&hanging->gate), 2);
    gate_open(&hanging->gate);
    await_post(&running, hanging, 10);
    pawl_courier_stop(courier);
    running_close(&running);
    post_free(hanging);
    post_free(healthy);
}

TEST(two_engines_on_one_file_share_the_work_and_tell_nothing_twice)
{
    struct running one, two;
    struct post *post = post_new(true);
    char path[64];
    database_name(path, sizeof path);
    open_with_hook(&one, path, post);
    open_with_hook(&two, path, post);
    pawl_courier *first = start_courier(&one, 2), *second = start_courier(&two, 2);
    create_runs(&one, 0, RUNS / 2);
    create_runs(&two, RUNS / 2, RUNS / 2);
    await_post(&one, post, RUNS / 2 * 2);
    assert_int_equal(distinct(post), RUNS / 2 * 2);
    pawl_courier_stop(first);
    pawl_courier_stop(second);
    two.path[0] = '\0'; /* the file is removed once */
    running_close(&two);
    running_close(&one);
    post_free(post);
}

/* Tells the parent that it is at it, and stays. */
static pawl_status report_and_hang(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    char id[32] = "";
    (void)error;
    snprintf(id, sizeof id, "%s", delivery->id);
    if (write(*(const int *)user, id, sizeof id) == sizeof id)
        pause();
    return PAWL_FAILED;
}

static void be_killed_while_delivering(const char *path, int report)
{
    struct running running;
    struct pawl_hook hook = PAWL_HOOK_INIT;
    running_open_path(&running, path);
    running_register(&running, "w", nothing, NULL);
    hook.name = "post";
    hook.events = PAWL_HOOK_ENQUEUED;
    hook.deliver = report_and_hang;
    hook.user = &report;
    hook.lease_ms = 300;
    assert_ok(pawl_hook_register(running.engine, &hook, &running.error), running.error);
    (void)start_courier(&running, 1); /* which hangs: nobody here tries again when the lease is over */
    create_runs(&running, 0, 1);
    for (;;)
        pause();
}

TEST(C7_a_process_that_is_killed_while_it_delivers_is_followed_by_another)
{
    struct running running;
    struct post *post = post_new(true);
    char path[64], id[32] = "";
    int report[2];
    database_name(path, sizeof path);
    assert_int_equal(pipe(report), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_killed_while_delivering(path, report[1]);
    assert_true(child > 0);
    assert_int_equal(read(report[0], id, sizeof id), sizeof id);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);

    open_with_hook(&running, path, post);
    pawl_courier *courier = start_courier(&running, 1);
    await_post(&running, post, 1);
    assert_int_equal(post->attempt, 2);
    assert_string_equal(post->ids[0], id);
    pawl_courier_stop(courier);
    running_close(&running);
    post_free(post);
    close(report[0]);
    close(report[1]);
}

TEST(a_courier_without_hooks_has_nothing_to_do)
{
    struct running running;
    int threads = count_threads();
    running_open(&running, false);
    pawl_courier *courier = start_courier(&running, 2);
    pawl_courier_stop(courier);
    pawl_courier_stop(NULL);
    running_close(&running);
    assert_true(await_threads(threads));
}

TEST(wrong_arguments_are_refused)
{
    struct running running;
    pawl_courier *courier;
    running_open(&running, false);
    assert_int_equal(pawl_courier_start(NULL, 0, &courier, &running.error), PAWL_INVALID);
    assert_int_equal(pawl_courier_start(running.engine, 0, NULL, &running.error), PAWL_INVALID);
    assert_int_equal(pawl_courier_start(running.engine, -1, &courier, &running.error), PAWL_INVALID);
    assert_int_equal(pawl_courier_start(running.engine, 5000, &courier, &running.error), PAWL_INVALID);
    assert_non_null(strstr(running.error.text, "1024"));
    running_close(&running);
}
