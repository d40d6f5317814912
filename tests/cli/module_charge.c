/* module_charge.c - a function for a runner that works: "charge", which stands until the file "charged" is there. */
#include <pawl/workflow.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_MAX = 12000, LOOK_MS = 5 };

static pawl_status charge(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    (void)input;
    for (int i = 0; i < LOOKS_MAX && access("charged", F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    return pawl_result(step, out_result, "s", "charged");
}

PAWL_FUNCTIONS({ .name = "charge", .run = charge });
