/* module_sweep_clock.c - a module that reads the C library's clock: in a step's name, which is a mistake, and in bodies. */
#include <pawl/workflow.h>
#include <sys/time.h>
#include <time.h>

static pawl_status nothing(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return PAWL_OK;
}

static pawl_status named(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, NULL));
    return pawl_do(run, pawl_run_format(run, "at %lld", (long long)time(NULL)), NULL, nothing, params, out_result);
}

/* What all the clocks say; the one that never jumps is the machine's. */
static pawl_status stamp(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    struct timeval day;
    struct timespec real, counted, monotonic;
    (void)input;
    (void)gettimeofday(&day, NULL);
    (void)clock_gettime(CLOCK_REALTIME, &real);
    (void)clock_gettime(CLOCK_MONOTONIC, &monotonic);
    (void)timespec_get(&counted, TIME_UTC);
    return pawl_result(step, out_result, "[I, I, I, I, I, b]", (int64_t)time(NULL), (int64_t)day.tv_sec,
                       (int64_t)real.tv_sec, (int64_t)real.tv_nsec, (int64_t)counted.tv_sec,
                       monotonic.tv_sec != real.tv_sec);
}

static pawl_status stamped(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "begin", NULL, stamp, params, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "stamp", NULL, stamp, params, out_result);
}

PAWL_MODULE({ .name = "named", .run = named }, { .name = "stamped", .run = stamped });
