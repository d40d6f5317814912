/* approval.c - waits for a person, and goes on if nobody answers in time.
 *
 *     ./approval expense-1            nobody decides: after 2 seconds the expense goes to the manager
 *     ./approval expense-2 approve    somebody approves it
 *     ./approval expense-3 refuse     somebody refuses it
 *
 * A run that waits is a row in the database.  It takes no thread and no memory, for a day or for a year.  The event
 * may come from any process on the same file, before or after the workflow waits for it. */
#include <pawl/pawl.h>
#include <string.h>

static pawl_status ask_for_approval(pawl_step *step, const pawl_value *expense, pawl_value **out_result)
{
    /* A real body would send a mail here.  The step may run again, so the mail may be sent twice. */
    return pawl_result(step, out_result, "{s:s, s:I}", "asked", pawl_value_string(expense, "approver", "nobody"),
                       "amount", (long long)pawl_value_int(expense, "amount", 0));
}

static pawl_status pay_out(pawl_step *step, const pawl_value *expense, pawl_value **out_result)
{
    return pawl_result(step, out_result, "{s:I}", "paid", (long long)pawl_value_int(expense, "amount", 0));
}

static pawl_status hand_to_manager(pawl_step *step, const pawl_value *expense, pawl_value **out_result)
{
    (void)expense;
    return pawl_result(step, out_result, "{s:s}", "with", "the manager");
}

static pawl_status expense(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *done;
    struct pawl_event decision;

    PAWL_TRY(pawl_do(run, "ask for approval", NULL, ask_for_approval, params, NULL));

    pawl_status status = pawl_wait_for_event(run, "await decision", "decision", "2 seconds", &decision);
    if (status == PAWL_WAIT_FOR_EVENT_TIMEOUT) {
        PAWL_TRY(pawl_do(run, "hand to manager", NULL, hand_to_manager, params, &done));
        return pawl_return(run, out_result, "{s:s, s:V}", "state", "escalated", "details", done);
    }
    PAWL_TRY(status);

    if (strcmp(pawl_value_string(decision.payload, "verdict", ""), "approve") != 0)
        return pawl_run_fail(run, "Refused", "%s was refused", pawl_run_id(run));
    PAWL_TRY(pawl_do(run, "pay out", NULL, pay_out, params, &done));
    return pawl_return(run, out_result, "{s:s, s:V}", "state", "approved", "details", done);
}

PAWL_MODULE({ .name = "expense", .run = expense });

#ifndef PAWL_NO_MAIN
#include "host.h"

int main(int argc, char **argv)
{
    const char *id = argc > 1 ? argv[1] : "expense-1";
    const char *verdict = argc > 2 ? argv[2] : NULL;
    struct host host;

    pawl_status status = host_open(&host, "sqlite:approval.db", &pawl_module, NULL);
    if (status == PAWL_OK)
        status = host_create(&host, "expense", id, "{\"approver\": \"Ada\", \"amount\": 120}");
    if (status == PAWL_OK && verdict != NULL)
        status = host_send_event(&host, "expense", id, "decision", "decision-1",
                                 strcmp(verdict, "approve") == 0 ? "{\"verdict\": \"approve\"}"
                                                                 : "{\"verdict\": \"refuse\"}");
    if (status == PAWL_OK)
        status = host_wait(&host, "expense", id);
    if (status == PAWL_OK)
        status = host_show(&host, "expense", id);
    return host_close(&host, status);
}
#endif
