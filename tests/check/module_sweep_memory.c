/* module_sweep_memory.c - a module with static variables: one that must not be relied on, as a crash takes it, and some that
 * do no harm; and one that wants all the memory there is. */
#include <pawl/workflow.h>
#include <sys/mman.h>
#include <unistd.h>

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
