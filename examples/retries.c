/* retries.c - failures: one step fails and is retried, another fails for good because a retry would not help.
 *
 *     ./retries            runs booking-1 in retries.db
 *     ./retries booking-2  runs another one
 *
 * "find a room" fails twice and then works.  Between the attempts the run is parked, with a growing delay.  "charge
 * card" fails for good at once.  The workflow sees that and sends an invoice instead. */
#include <pawl/pawl.h>
#include <string.h>

static pawl_status find_room(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    /* The hotel's server is down at first.  A real body would call it here and return its answer. */
    if (pawl_step_attempt(step) < 3)
        return pawl_fail(step, "HotelUnreachable", "connection refused");
    return pawl_result(step, out_result, "{s:i, s:I}", "room", 101, "nights",
                       (long long)pawl_value_int(params, "nights", 1));
}

static pawl_status charge_card(pawl_step *step, const pawl_value *room, pawl_value **out_result)
{
    (void)room;
    (void)out_result;
    return pawl_fail_for_good(step, "CardDeclined", "the bank says no, and would say so again");
}

static pawl_status send_invoice(pawl_step *step, const pawl_value *room, pawl_value **out_result)
{
    return pawl_result(step, out_result, "{s:s, s:V}", "invoice", "i-1", "for", room);
}

static pawl_status booking(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *room, *payment;

    PAWL_TRY(pawl_do(run, "find a room", NULL, find_room, params, &room));

    pawl_status status = pawl_do(run, "charge card", NULL, charge_card, room, &payment);
    /* Handle only this failure.  Return every other status, above all PAWL_SUSPENDED. */
    if (status == PAWL_FAILED && strcmp(pawl_run_failure(run).name, "CardDeclined") == 0) {
        PAWL_TRY(pawl_log(run, PAWL_LOG_WARN, NULL, NULL, "card declined: %s", pawl_run_failure(run).message));
        status = pawl_do(run, "send invoice", NULL, send_invoice, room, &payment);
    }
    PAWL_TRY(status);
    return pawl_return(run, out_result, "{s:V, s:V}", "room", room, "payment", payment);
}

/* The default for all steps of the workflow: delays of 200 ms, 400 ms, 800 ms and so on, with at most 4 retries. */
static const struct pawl_step_options patient = {
    .retries = 4,
    .delay = "200 ms",
    .backoff = PAWL_BACKOFF_EXPONENTIAL,
    .timeout = "10 seconds",
};

PAWL_MODULE({ .name = "booking", .run = booking, .steps = &patient });

#ifndef PAWL_NO_MAIN
#include "host.h"

int main(int argc, char **argv)
{
    return host_run("sqlite:retries.db", &pawl_module, "booking", argc > 1 ? argv[1] : "booking-1", "{\"nights\": 2}");
}
#endif
