/* modules.c - the modules that test_modules.c and the scenarios of fault/ load, and that pawl-check sweeps (test_pawl_check.c).
 *
 * Each is compiled from this file alone, with a definition that picks it: MODULE_SWEEP_GOOD makes module_sweep_good.so.
 * The two modules whose lines test_pawl_check.c names come first. */
#include <pawl/workflow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((unused)) static pawl_status nothing(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    return PAWL_OK;
}

__attribute__((unused)) static pawl_status lives(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "live", NULL, nothing, params, out_result);
}

#if defined(MODULE_SWEEP_BAD)
/* A mistake: a step is named by something that is not part of history. */

static pawl_status fickle(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static int calls;
    (void)out_result;
    PAWL_TRY(pawl_do(run, "reserve", NULL, nothing, params, NULL));
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "charge %d", calls++), NULL, nothing, params, NULL)); /* the mistake */
    return pawl_do(run, "ship", NULL, nothing, params, NULL);
}

static pawl_status steady(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    return pawl_do(run, "work", NULL, nothing, params, NULL);
}

PAWL_MODULE({ .name = "fickle", .run = fickle }, { .name = "steady", .run = steady });

#elif defined(MODULE_SWEEP_NAMES)
/* A mistake: a name in a loop has no index. The same with the last call, which an optimizing compiler turns into a jump. */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2")
#endif

static pawl_status polls(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    for (int i = 0; i < 3; i++)
        PAWL_TRY(pawl_sleep(run, "poll", "1 hour")); /* the mistake */
    return PAWL_OK;
}

static pawl_status jumps(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    (void)out_result;
    PAWL_TRY(pawl_sleep(run, "jump", "1 hour"));
    return pawl_sleep(run, "jump", "1 hour");
}

PAWL_MODULE({ .name = "polls", .run = polls }, { .name = "jumps", .run = jumps });

#elif defined(MODULE_FUNCTIONS)
/* A workflow and the function that it calls. */

static pawl_status twice(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "I", (long long)(2 * pawl_value_int(input, NULL, 0)));
}

static pawl_status doubling(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_call(run, "double", "loaded.twice", NULL, params, out_result);
}

PAWL_MODULE({ .name = "doubling", .run = doubling });
PAWL_FUNCTIONS({ .name = "loaded.twice", .run = twice, .description = "Twice the number" });

#elif defined(MODULE_FUNCTIONS_ALONE)
/* Functions and no workflow, for a worker. */

static pawl_status thrice(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    return pawl_result(step, out_result, "I", (long long)(3 * pawl_value_int(input, NULL, 0)));
}

PAWL_FUNCTIONS({ .name = "loaded.thrice", .run = thrice });

#elif defined(MODULE_FAULT)
/* To be loaded while memory runs out. */

static pawl_status loaded(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_return(run, out_result, "s", "loaded");
}

PAWL_MODULE({ .name = "loaded", .run = loaded }, { .name = "loaded-too", .run = loaded });

#elif defined(MODULE_SWEEP_GOOD)
/* pawl-check finds nothing in it. */

static pawl_status reserve(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    return pawl_result(step, out_result, "{s:s}", "sku", pawl_value_string(params, "sku", "none"));
}

static pawl_status order(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *reservation;
    struct pawl_event approval;
    PAWL_TRY(pawl_do(run, "reserve", NULL, reserve, params, &reservation));
    pawl_status status = pawl_wait_for_event(run, "await approval", "approval", "1 hour", &approval);
    if (status == PAWL_WAIT_FOR_EVENT_TIMEOUT)
        return pawl_return(run, out_result, "{s:s}", "refused", "nobody answered");
    PAWL_TRY(status);
    return pawl_return(run, out_result, "{s:V, s:V}", "reservation", reservation, "approval", approval.payload);
}

static pawl_status nap(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_sleep(run, "nap", "1 day"));
    return pawl_return(run, out_result, "s", "rested");
}

PAWL_MODULE({ .name = "order", .run = order }, { .name = "nap", .run = nap });

#elif defined(MODULE_SWEEP_CLOCK)
/* Reads the C library's clock: in a step's name, which is a mistake, and in bodies. */

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

#elif defined(MODULE_SWEEP_DIES)
/* Its code kills the process that it runs in: in a body, outside of one, or only at the sixth call.  It also forks, and closes what
 * it could be heard through. */

static pawl_status die(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    abort();
}

static pawl_status leave(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    exit(0);
}

static pawl_status die_the_sixth_time(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    char calls[8] = ""; /* counted where a simulated crash takes nothing from */
    const char *before = getenv("PAWL_TEST_CALLS");
    snprintf(calls, sizeof calls, "%sx", before != NULL ? before : "");
    setenv("PAWL_TEST_CALLS", calls, 1);
    return strlen(calls) < 6 ? nothing(step, input, out_result) : die(step, input, out_result);
}

static pawl_status hush(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)close(STDOUT_FILENO);
    (void)close(STDERR_FILENO);
    return nothing(step, input, out_result);
}

static pawl_status fork_and_return(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    pid_t process = fork();
    if (process > 0)
        (void)waitpid(process, NULL, 0);
    return nothing(step, input, out_result); /* the mistake: both do */
}

static pawl_status dies(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, NULL));
    return pawl_do(run, "die", NULL, die, params, out_result);
}

static pawl_status dies_late(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "die", NULL, die_the_sixth_time, params, out_result);
}

static pawl_status dies_outside(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, out_result));
    abort();
}

static pawl_status forks(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "fork", NULL, fork_and_return, params, out_result);
}

static pawl_status hushes(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "hush", NULL, hush, params, out_result);
}

static pawl_status leaves(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "leave", NULL, leave, params, out_result);
}

PAWL_MODULE({ .name = "dies", .run = dies }, { .name = "dies-late", .run = dies_late },
            { .name = "dies-outside", .run = dies_outside }, { .name = "forks", .run = forks },
            { .name = "hushes", .run = hushes }, { .name = "leaves", .run = leaves },
            { .name = "lives", .run = lives });

#elif defined(MODULE_SWEEP_ENDLESS)
/* Its code never returns: from a body, and outside of one. */

static pawl_status stay(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    puts("here I stay");
    (void)fflush(stdout);
    while (pause() != 0)
        ; /* no signal is caught, so it never answers */
    return PAWL_OK;
}

static pawl_status stays(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, NULL));
    return pawl_do(run, "stay", NULL, stay, params, out_result);
}

static pawl_status insists(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "live", NULL, nothing, params, out_result));
    while (pawl_sleep(run, "nap", "1 hour") == PAWL_SUSPENDED)
        ; /* the mistake: it has to return */
    return PAWL_OK;
}

PAWL_MODULE({ .name = "insists", .run = insists }, { .name = "stays", .run = stays },
            { .name = "unharmed", .run = lives });

#elif defined(MODULE_SWEEP_INLINE)
/* An inline workflow among others. */

PAWL_MODULE({ .name = "after", .run = lives }, { .name = "between", .run = lives, .mode = PAWL_MODE_INLINE },
            { .name = "then", .run = lives });

#elif defined(MODULE_SWEEP_MEMORY)
/* Static variables: one that must not be relied on, because a crash loses it, and some that do no harm.  One workflow asks for all
 * the memory there is. */

static int rate;             /* by a body, for another one */
static int rate_once_looked; /* can be found out at any time */
static int set_at_load;
static const char *words[] = { "none", "some" }; /* with addresses in it, which the loader filled in */

__attribute__((constructor)) static void begin(void)
{
    set_at_load = 7;
}

static pawl_status look_up(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)step;
    (void)input;
    (void)out_result;
    rate = 42;
    return PAWL_OK;
}

static pawl_status bill(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    return pawl_result(step, out_result, "{s:i}", "rate", rate);
}

/* The mistake: the second body reads what the first one left in memory. */
static pawl_status forgetful(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "look up", NULL, look_up, params, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "bill", NULL, bill, params, out_result);
}

static pawl_status bill_well(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    if (rate_once_looked == 0) {
        rate_once_looked = 42;
        words[0] = "any";
    }
    return pawl_result(step, out_result, "{s:i, s:i, s:s}", "rate", rate_once_looked, "load", set_at_load, "word",
                       words[1]);
}

static pawl_status harmless(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    PAWL_TRY(pawl_do(run, "bill", NULL, bill_well, params, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "1 hour"));
    return pawl_do(run, "bill again", NULL, bill_well, params, out_result);
}

/* Whether it is refused as much memory as the machine has. */
static pawl_status take_all(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    size_t size = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    void *all = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)input;
    if (all != MAP_FAILED)
        (void)munmap(all, size);
    return pawl_result(step, out_result, "b", all == MAP_FAILED);
}

static pawl_status greedy(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "take", NULL, take_all, params, out_result);
}

PAWL_MODULE({ .name = "greedy", .run = greedy }, { .name = "forgetful", .run = forgetful },
            { .name = "harmless", .run = harmless });

#elif defined(MODULE_SWEEP_TABLES)
/* Its step writes to a table of the user's own. */

static pawl_status pay(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    return pawl_step_sql(step, "INSERT INTO paid VALUES ($1)", "[s]", "once");
}

static pawl_status pays(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_do(run, "pay", NULL, pay, params, out_result);
}

PAWL_MODULE({ .name = "pays", .run = pays });

#elif defined(MODULE_SWEEP_UNLOADABLE)
/* Kills the process that loads it. */

__attribute__((constructor)) static void begin(void)
{
    abort();
}

static pawl_status rests(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)run;
    (void)params;
    (void)out_result;
    return PAWL_OK;
}

PAWL_MODULE({ .name = "rests", .run = rests });

#else
#error "no module is picked"
#endif
