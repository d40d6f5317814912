/* commands.c - the tree of commands; see commands.h. */
#include "commands.h"

#include <stdint.h>
#include <string.h>

#include "columns.h"
#include "run.h"
#include "verb.h"

#define OPTIONS(...) ((const enum option_id[]){ __VA_ARGS__, OPTION_NONE })
#define EXAMPLES(...) ((const struct pw_entry[]){ __VA_ARGS__, { NULL, NULL } })

#define VERBS(...) ((const struct verb[]){ __VA_ARGS__ })
#define FIELDS(...) ((const struct field[]){ __VA_ARGS__, { .name = NULL } })

enum { FORMATS = FORMAT_TEXT | FORMAT_JSON, FORMATS_WITH_IDS = FORMATS | FORMAT_IDS };

static const struct command workflow_commands[] = {
    { .name = "list",
      .summary = "list the workflows that the server has",
      .formats = FORMATS_WITH_IDS,
      .examples =
          EXAMPLES({ "pawl workflows list", "what there is" }, { "pawl workflows list -o ids", "only the names" }),
      .run = run_list,
      .verbs = VERBS({ .path = "/workflows",
                       .rows = "workflows",
                       .columns = workflow_columns,
                       .ids = "{name}",
                       .empty = "no workflows; pawld serves those of the modules that it is given" }) },
    { .name = NULL },
};

static const struct command instance_commands[] = {
    { .name = "list",
      .summary = "list instances, newest first",
      .description =
          "Without a workflow, lists the instances of all workflows. Workflows that the token may not read are left out, "
          "and named on standard error. The list is a page of 25 (--limit); --all prints all pages.\n\n"
          "With -o ids each line is WORKFLOW/ID, which all other commands take, also from standard input.",
      .argument = ARGUMENT_WORKFLOW,
      .argument_is_optional = true,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_STATUS, OPTION_WORKFLOW_VERSION, OPTION_LIMIT, OPTION_ALL,
                         OPTION_ORDER, OPTION_CURSOR),
      .examples = EXAMPLES(
          { "pawl instances list", "the newest of all workflows" },
          { "pawl instances list order --status errored --all", "all orders that failed" },
          { "pawl instances list order --workflow-version 1.4", "what version 1.4 of the workflow began" },
          { "pawl instances list -s errored -a -o ids | pawl instances restart -", "start all that failed over" }),
      .run = run_list,
      .verbs = VERBS(
          { .path = "/workflows/{workflow}/instances",
            .fields = FIELDS({ .name = "status", .option = OPTION_STATUS, .said = " that are " },
                             { .name = "version", .option = OPTION_WORKFLOW_VERSION, .said = " begun by version " }),
            .rows = "instances",
            .columns = instance_columns,
            .ids = "{workflowName}/{id}",
            .empty = "no instances" }) },
    { .name = "get",
      .summary = "one instance: its status, what it waits for, what its steps did",
      .description = "The steps of the current run are drawn as bars on a common scale of time. The last 20 are shown; "
                     "--full shows all of them, with their results.",
      .argument = ARGUMENT_INSTANCE,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_RUN, OPTION_FULL),
      .examples = EXAMPLES({ "pawl instances get order/order-1", "the order order-1" },
                           { "pawl instances get order/latest", "the newest order" },
                           { "pawl instances get order/order-1 --run 1", "as its first run ended" },
                           { "pawl instances get --workflow order --id order-1 --json", "the same, for a script" }),
      .run = run_instances_get },
    { .name = "why",
      .summary = "why an instance does not move, and what would move it",
      .description =
          "Prints what it waits for, since when and until when, and the command that would move it, if there is one.",
      .argument = ARGUMENT_INSTANCE,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID),
      .examples = EXAMPLES({ "pawl instances why order/order-1", NULL }),
      .run = run_instances_why },
    { .name = "watch",
      .summary = "follow an instance, or a list of them, as they change",
      .description = "With an instance: its status, steps and log lines as they happen, until it has finished. A "
                     "connection that breaks is made again, also when the server was restarted, and nothing is left "
                     "out. On a terminal the steps are drawn in place and log lines scroll above them; elsewhere each "
                     "change is a line.\n\n"
                     "Without one: the list of instances, looked at every two seconds, until it is interrupted.",
      .argument = ARGUMENT_INSTANCE,
      .argument_is_optional = true,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_STATUS, OPTION_LIMIT, OPTION_INTERVAL),
      .examples = EXAMPLES({ "pawl instances watch order/order-1", "until the order has finished" },
                           { "pawl instances watch order/latest --json | jq .", "each change as a line of JSON" },
                           { "pawl instances watch --status active", "what is being worked on" }),
      .run = run_instances_watch,
      .verbs = VERBS({ .path = "/workflows/{workflow}/instances",
                       .fields = FIELDS({ .name = "status", .option = OPTION_STATUS }),
                       .rows = "instances",
                       .columns = instance_columns }) },
    { .name = "history",
      .summary = "what a run did: its steps and events, and its log lines when asked for",
      .argument = ARGUMENT_INSTANCE,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_RUN, OPTION_INCLUDE_LOGS, OPTION_LOG_LEVEL,
                         OPTION_LOG_CATEGORY, OPTION_NO_REPLAY, OPTION_FULL, OPTION_ORDER),
      .examples =
          EXAMPLES({ "pawl instances history order/order-1", "steps and events of the current run" },
                   { "pawl instances history order/order-1 --run 1 --include-logs", "of the first run, with logs" },
                   { "pawl instances history order/order-1 -l --log-level error --json", "for a script" }),
      .run = run_instances_history },
    { .name = "logs",
      .summary = "the log lines of a run",
      .description =
          "With --follow they are printed as they are written, until the instance has finished. A connection "
          "that breaks is made again, also when the server was restarted; no line is lost or printed twice.",
      .argument = ARGUMENT_INSTANCE,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_RUN, OPTION_FOLLOW, OPTION_NO_REPLAY, OPTION_LOG_LEVEL,
                         OPTION_LOG_CATEGORY),
      .examples = EXAMPLES({ "pawl instances logs order/order-1", NULL },
                           { "pawl instances logs order/latest --follow", "as they come" },
                           { "pawl instances logs order/order-1 --log-category system --log-level warn",
                             "what the engine had to warn of" }),
      .run = run_instances_logs },
    { .name = "result",
      .summary = "the result of a run",
      .description =
          "Prints the output of a complete run. If the run errored or was terminated, the exit status is 4; if "
          "it has not finished, 5. With --key, prints the result of the execution that has the key.",
      .argument = ARGUMENT_INSTANCE,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_KEY, OPTION_WAIT, OPTION_WAIT_FOR),
      .examples = EXAMPLES({ "pawl instances result order/order-1 --wait", "as long as it takes" },
                           { "pawl instances result order/order-1 --for 5min || echo not done", "in a script" },
                           { "pawl instances result -w order --key 'cart 17'", "what execute began with that key" }),
      .run = run_instances_result },
    { .name = "runs",
      .summary = "the runs of an instance, newest first: how each ended, when, and with what",
      .description =
          "A restart or a retry begins another run. A run that had not ended by then is terminated, with the "
          "error RESTARTED.",
      .argument = ARGUMENT_INSTANCE,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_LIMIT, OPTION_ALL, OPTION_ORDER, OPTION_CURSOR),
      .examples = EXAMPLES({ "pawl instances runs order/order-1", NULL },
                           { "pawl instances history order/order-1 --run 1", "what the first of them did" }),
      .run = run_list,
      .verbs = VERBS({ .path = "{instance}/runs", .rows = "runs", .columns = run_columns }) },
    { .name = "children",
      .summary = "the instances that an instance made, in any of its runs, newest first",
      .description = "With -o ids each line is WORKFLOW/ID, as with list.",
      .argument = ARGUMENT_INSTANCE,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_LIMIT, OPTION_ALL, OPTION_ORDER, OPTION_CURSOR),
      .examples =
          EXAMPLES({ "pawl instances children order/order-1", NULL },
                   { "pawl instances children order/order-1 -a -o ids | pawl instances pause -", "all of them" }),
      .run = run_list,
      .verbs = VERBS({ .path = "{instance}/children",
                       .rows = "instances",
                       .columns = instance_columns,
                       .ids = "{workflowName}/{id}",
                       .empty = "{instance} has no children" }) },
    { .name = "create",
      .summary = "create an instance, or many",
      .description =
          "Returns when the instance is stored, without waiting for the run unless --wait is given. Without an "
          "id, the server makes one.",
      .argument = ARGUMENT_NEW,
      .argument_is_optional = true,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_NEW_ID, OPTION_PARAMS, OPTION_RETURN_EXISTING, OPTION_BATCH,
                         OPTION_WAIT, OPTION_WAIT_FOR),
      .examples = EXAMPLES(
          { "pawl instances create order --id order-1 --params '{\"sku\": \"teapot\"}'", NULL },
          { "pawl instances create order/order-1 --params @order.json --return-existing",
            "from a file; safe to repeat" },
          { "pawl instances create order --params - --wait <order.json", "from standard input, and print the result" },
          { "pawl instances create order --batch '[{\"id\": \"a\"}, {\"id\": \"b\"}]'", "two at once" }),
      .run = run_instances_create,
      .verbs = VERBS(
          { .path = "/workflows/{workflow}/instances",
            .fields = FIELDS({ .name = "params", .option = OPTION_PARAMS },
                             { .name = "onConflict", .option = OPTION_RETURN_EXISTING, .literal = "\"return\"" }) }) },
    { .name = "execute",
      .summary = "run a workflow to its end, once for each key, and print the result",
      .description =
          "With a key, whoever executes again gets what the first call began, at once or years later, with the first "
          "call's parameters; without one it is a new instance each time. It waits as long as it takes, unless --for or "
          "--discard says otherwise. A run that errored or was terminated ends "
          "the command with 4, one that has not finished in the time of --for with 5; executing again with the key, or "
          "pawl instances result --key, goes on waiting for it.",
      .argument = ARGUMENT_WORKFLOW,
      .argument_is_optional = true,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_KEY, OPTION_PARAMS, OPTION_DISCARD, OPTION_WAIT, OPTION_WAIT_FOR),
      .examples = EXAMPLES({ "pawl instances execute order --key 'cart 17' --params '{\"sku\": \"teapot\"}'", NULL },
                           { "pawl instances execute order --key 'cart 17' --discard", "only begin it" },
                           { "pawl instances execute order --params @order.json --for 5min", "not longer than that" }),
      .run = run_instances_execute,
      .verbs =
          VERBS({ .path = "/workflows/{workflow}/execute",
                  .fields = FIELDS({ .name = "discard", .literal = "true" }, { .name = "key", .option = OPTION_KEY },
                                   { .name = "params", .option = OPTION_PARAMS }) }) },
    { .name = "send-event",
      .summary = "send an event to an instance, which keeps it until a step waits for its type",
      .argument = ARGUMENT_INSTANCES,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_TYPE, OPTION_PAYLOAD, OPTION_EVENT_ID, OPTION_DRY_RUN),
      .required = OPTIONS(OPTION_TYPE),
      .examples =
          EXAMPLES({ "pawl instances send-event order/order-1 --type approval --payload '{\"by\": \"Ada\"}'", NULL },
                   { "pawl instances send-event order/order-1 --type paid --event-id payment-7",
                     "not twice, however often sent" }),
      .run = run_control,
      .verbs = VERBS(
          { .path = "{instance}/events",
            .fields = FIELDS({ .name = "type", .option = OPTION_TYPE }, { .name = "payload", .option = OPTION_PAYLOAD },
                             { .name = "id", .option = OPTION_EVENT_ID }),
            .done = "was sent {type}" }) },
    { .name = "pause",
      .summary = "pause instances: at once where nobody works on them, else at their next step",
      .description = "Timers go on counting, and events are kept.",
      .argument = ARGUMENT_INSTANCES,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_DRY_RUN),
      .examples = EXAMPLES(
          { "pawl instances pause order/order-1 order/order-2", NULL },
          { "pawl instances list order -s waiting -a -o ids | pawl instances pause -", "all orders that wait" }),
      .run = run_control,
      .verbs = VERBS({ .path = "{instance}/pause",
                       .done = "told to pause", /* a busy run pauses at its next step boundary */
                       .reached = "paused",
                       .is_idle = instance_is_paused,
                       .idle = "was paused already" }) },
    { .name = "resume",
      .summary = "let paused instances go on",
      .description =
          "An instance that waits for repair, because one of its steps failed for good, tries that step again.",
      .argument = ARGUMENT_INSTANCES,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_DRY_RUN),
      .examples =
          EXAMPLES({ "pawl instances resume order/order-1", NULL },
                   { "pawl instances list -s paused -a -o ids | pawl instances resume -", "all that are paused" }),
      .run = run_control,
      .verbs = VERBS({ .path = "{instance}/resume",
                       .done = "resumed",
                       .is_idle = instance_is_not_paused,
                       .idle = "was not paused" }) },
    { .name = "restart",
      .summary = "start instances over: a new run from the top, from any status",
      .description = "Earlier runs stay in the history; events of earlier runs are not delivered to the new one. With "
                     "--from the new run keeps what was recorded before that step; if the steps were undone, there is "
                     "nothing to keep, and it is refused.",
      .argument = ARGUMENT_INSTANCES,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_FROM, OPTION_DRY_RUN),
      .examples = EXAMPLES(
          { "pawl instances restart order/order-1", NULL },
          { "pawl instances restart order/order-1 --from 'charge the card'", "and keep what was done before" },
          { "pawl instances list --all -s errored -o ids | pawl instances restart -", "those that failed" },
          { "pawl instances list --all -s errored -o ids | pawl instances restart --dry-run -", "say which would be" }),
      .run = run_control,
      .verbs = VERBS({ .when = OPTION_FROM,
                       .path = "{instance}/restart",
                       .fields = FIELDS({ .name = "from", .option = OPTION_FROM }),
                       .done = "restarted from {from:json}" },
                     { .path = "{instance}/restart", .done = "restarted" }) },
    { .name = "retry",
      .summary = "let instances that errored go on: a new run that tries the step that failed again",
      .description =
          "Finished steps are kept. If they were undone, there is nothing to continue from, and the retry is refused; "
          "restart starts over.",
      .argument = ARGUMENT_INSTANCES,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_DRY_RUN),
      .examples =
          EXAMPLES({ "pawl instances retry order/order-1", NULL },
                   { "pawl instances list --all -s errored -o ids | pawl instances retry -", "all that failed" }),
      .run = run_control,
      .verbs = VERBS({ .path = "{instance}/retry", .done = "retried" }) },
    { .name = "interrupt",
      .summary = "stop instances cooperatively: what their steps did is undone before they end",
      .description =
          "The next step of each returns the interruption to its workflow, the compensations of its finished steps "
          "run, and it ends as terminated, with the error INTERRUPTED. Attached children are interrupted as well.",
      .argument = ARGUMENT_INSTANCES,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_DRY_RUN),
      .examples = EXAMPLES(
          { "pawl instances interrupt order/order-1", NULL },
          { "pawl instances list order -s waiting -a -o ids | pawl instances interrupt -", "all orders that wait" }),
      .run = run_control,
      .verbs = VERBS({ .path = "{instance}/interrupt",
                       .done = "told to stop", /* it ends when its next durable call was told so, and all is undone */
                       .is_idle = instance_is_stopping,
                       .idle = "was told to stop already" }) },
    { .name = "terminate",
      .summary = "end instances for good: they can record nothing afterwards",
      .description =
          "Attached children are terminated as well. With --rollback each ends once its compensations have run.",
      .argument = ARGUMENT_INSTANCES,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW, OPTION_ID, OPTION_ROLLBACK, OPTION_DRY_RUN),
      .examples = EXAMPLES({ "pawl instances terminate order/order-1", NULL },
                           { "pawl instances terminate --rollback order/order-1", "undo what it did first" }),
      .run = run_control,
      .verbs = VERBS({ .when = OPTION_ROLLBACK,
                       .path = "{instance}/terminate",
                       .fields = FIELDS({ .name = "rollback", .option = OPTION_ROLLBACK, .literal = "true" }),
                       .done = "told to roll back", /* that takes its time */
                       .is_idle = instance_is_rolling_back,
                       .idle = "was told to roll back already" },
                     { .path = "{instance}/terminate", .done = "terminated" }) },
    { .name = NULL },
};

static const struct command deferred_commands[] = {
    { .name = "succeed",
      .summary = "finish a deferred: the run that waits for it goes on with the result",
      .description =
          "The token, which the workflow gave away, is all that is needed. The first answer wins: repeating it is "
          "no error, a different one is refused.",
      .argument = ARGUMENT_TOKEN,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_RESULT),
      .examples = EXAMPLES({ "pawl deferred succeed \"$token\" --result '{\"approved\": true}'", NULL },
                           { "pawl deferred succeed - <token", "so that other users of the machine do not see it" }),
      .run = run_ask,
      .verbs = VERBS({ .path = "/deferred/{token}/succeed",
                       .fields = FIELDS({ .name = "result", .option = OPTION_RESULT }),
                       .done = "the deferred has succeeded",
                       .then = "; its run goes on" }) },
    { .name = "fail",
      .summary = "fail a deferred: the run that waits for it is told the error",
      .argument = ARGUMENT_TOKEN,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_NAME, OPTION_MESSAGE),
      .required = OPTIONS(OPTION_NAME),
      .examples = EXAMPLES({ "pawl deferred fail \"$token\" --name Refused --message 'not this month'", NULL }),
      .run = run_ask,
      .verbs = VERBS({ .path = "/deferred/{token}/fail",
                       .fields = FIELDS({ .name = "name", .option = OPTION_NAME },
                                        { .name = "message", .option = OPTION_MESSAGE }),
                       .done = "the deferred has failed",
                       .then = "; its run goes on" }) },
    { .name = NULL },
};

static const struct command job_commands[] = {
    { .name = "claim",
      .summary = "take jobs that are due, as a worker does, and print them with their tokens",
      .description =
          "A job is yours until its lease ends; heartbeat extends it. After that another worker may get the job. "
          "If there is no job, the exit status is 5. With -o ids each line is a token.",
      .argument = ARGUMENT_FUNCTIONS,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_MAX_JOBS, OPTION_LEASE, OPTION_WAIT_JOB, OPTION_WAIT_FOR),
      .examples = EXAMPLES({ "pawl jobs claim charge", "what it is asked to do" },
                           { "token=$(pawl jobs claim charge ship --wait -o ids)", "in a script" },
                           { "pawl jobs claim charge --max 10 --lease 5min --json", NULL }),
      .run = run_jobs_claim,
      .verbs = VERBS({ .path = "/jobs/claim",
                       .fields = FIELDS({ .name = "leaseMs", .option = OPTION_LEASE },
                                        { .name = "max", .option = OPTION_MAX_JOBS }) }) },
    { .name = "heartbeat",
      .summary = "keep a job: its lease starts anew",
      .argument = ARGUMENT_TOKEN,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_LEASE),
      .examples =
          EXAMPLES({ "pawl jobs heartbeat \"$token\" --lease 1min || echo stop: it is not yours any more", NULL }),
      .run = run_ask,
      .verbs = VERBS({ .path = "/jobs/{token}/heartbeat",
                       .fields = FIELDS({ .name = "leaseMs", .option = OPTION_LEASE }),
                       .done = "the job is yours until {leasedUntil:time}, {leasedUntil:ago}" }) },
    { .name = "complete",
      .summary = "complete a job: the run that made the call goes on with the result",
      .argument = ARGUMENT_TOKEN,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_RESULT),
      .examples = EXAMPLES({ "pawl jobs complete \"$token\" --result '{\"receipt\": \"r-9\"}'", NULL },
                           { "charge | pawl jobs complete \"$token\" --result -", "what a program printed" }),
      .run = run_ask,
      .verbs = VERBS({ .path = "/jobs/{token}/complete",
                       .fields = FIELDS({ .name = "result", .option = OPTION_RESULT }),
                       .done = "the job is complete",
                       .then = "; its run goes on" }) },
    { .name = "fail",
      .summary = "fail a job: the call is tried again as its step says, as a new job",
      .argument = ARGUMENT_TOKEN,
      .formats = FORMATS,
      .options = OPTIONS(OPTION_NAME, OPTION_MESSAGE, OPTION_NO_RETRY),
      .required = OPTIONS(OPTION_NAME),
      .examples = EXAMPLES({ "pawl jobs fail \"$token\" --name CardDeclined --message 'no money' --no-retry", NULL }),
      .run = run_ask,
      .verbs = VERBS(
          { .when = OPTION_NO_RETRY,
            .path = "/jobs/{token}/fail",
            .fields = FIELDS({ .name = "name", .option = OPTION_NAME }, { .name = "message", .option = OPTION_MESSAGE },
                             { .name = "retry", .option = OPTION_NO_RETRY, .literal = "false" }),
            .done = "the job has failed, for good" },
          { .path = "/jobs/{token}/fail",
            .fields =
                FIELDS({ .name = "name", .option = OPTION_NAME }, { .name = "message", .option = OPTION_MESSAGE }),
            .done = "the job has failed",
            .then = "; it is tried again if its step says so" }) },
    { .name = NULL },
};

static const struct command hook_commands[] = {
    { .name = "list",
      .summary = "deliveries of hooks that wait, or that have failed for good",
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_DELIVERY_STATUS, OPTION_HOOK, OPTION_LIMIT, OPTION_ALL, OPTION_CURSOR),
      .examples = EXAMPLES({ "pawl hooks list --status failed", "what was not told to others" }),
      .run = run_list,
      .verbs = VERBS({ .path = "/hooks/deliveries",
                       .fields = FIELDS({ .name = "status", .option = OPTION_DELIVERY_STATUS },
                                        { .name = "hook", .option = OPTION_HOOK }),
                       .rows = "deliveries",
                       .columns = delivery_columns,
                       .ids = "{id}",
                       .empty = "nothing waits to be told, and nothing has failed" }) },
    { .name = "resend",
      .summary = "make deliveries due at once, with their attempts counted from the start",
      .argument = ARGUMENT_DELIVERIES,
      .formats = FORMATS_WITH_IDS,
      .examples = EXAMPLES({ "pawl hooks resend 3k9", NULL },
                           { "pawl hooks list -s failed -a -o ids | pawl hooks resend -", "all that failed" }),
      .run = run_control,
      .verbs = VERBS({ .path = "/hooks/deliveries/{delivery}/resend", .done = "due again" }) },
    { .name = NULL },
};

static const struct command top_commands[] = {
    { .name = "status",
      .summary = "the server, how many instances there are, and how long the oldest due one has waited",
      .description =
          "Instances are counted in the whole store, of all workflows that the server has, each status up to "
          "100,000: 100,000+ says that there are more.",
      .formats = FORMATS,
      .options = OPTIONS(OPTION_WORKFLOW),
      .examples = EXAMPLES({ "pawl status", NULL }, { "pawl status --workflow order", "count only orders" },
                           { "pawl status --json | jq .instances.errored", "for a script" }),
      .run = run_status },
    { .name = "instances",
      .summary = "create, look at, and control instances of workflows",
      .description =
          "An instance is named WORKFLOW/ID, or ID alone with --workflow; without a workflow, all workflows are "
          "searched for the id. The id \"latest\" is the newest instance: order/latest of one "
          "workflow, latest of all.",
      .children = instance_commands },
    { .name = "cluster",
      .summary = "the runners on the store, on all machines, and the shards that each of them owns",
      .description =
          "A runner works when work is due, as the workers of a pawld do, or only when it is ticked (pawl tick, "
          "pawld --allow-tick); only the first kind owns shards. With a workflow: who owns which of its shards.",
      .argument = ARGUMENT_WORKFLOW,
      .argument_is_optional = true,
      .formats = FORMATS_WITH_IDS,
      .options = OPTIONS(OPTION_WORKFLOW),
      .examples = EXAMPLES({ "pawl cluster", "who is there" }, { "pawl cluster order", "who owns which orders" }),
      .run = run_cluster },
    { .name = "workflows", .summary = "what can be run", .children = workflow_commands },
    { .name = "deferred", .summary = "answer a run that waits for whoever has a token", .children = deferred_commands },
    { .name = "jobs", .summary = "carry out the calls of workflows, as a worker does", .children = job_commands },
    { .name = "hooks", .summary = "what the server tells other systems", .children = hook_commands },
    { .name = "tick",
      .summary = "let the server do what is due now; it must allow that (pawld --allow-tick)",
      .formats = FORMATS,
      .options = OPTIONS(OPTION_MAX_INSTANCES, OPTION_MAX_STEPS),
      .examples = EXAMPLES({ "pawl tick --max-instances 10", NULL }),
      .run = run_ask,
      .verbs = VERBS({ .path = "/_runner/tick",
                       .fields = FIELDS({ .name = "maxInstances", .option = OPTION_MAX_INSTANCES },
                                        { .name = "maxSteps", .option = OPTION_MAX_STEPS }),
                       .done = "{processed:instance} processed",
                       .is_idle = nothing_was_processed,
                       .idle = "nothing was due" }) },
    { .name = "completion",
      .summary = "print the script that completes commands in a shell",
      .argument = ARGUMENT_SHELL,
      .formats = FORMAT_TEXT,
      .examples = EXAMPLES({ "source <(pawl completion bash)", "in this shell; in ~/.bashrc for all of them" },
                           { "pawl completion zsh >~/.zfunc/_pawl", "with ~/.zfunc in $fpath" },
                           { "pawl completion fish >~/.config/fish/completions/pawl.fish", NULL }),
      .run = run_completion,
      .is_offline = true },
    { .name = "man",
      .summary = "print the man page of a command",
      .argument = ARGUMENT_COMMAND,
      .argument_is_optional = true,
      .formats = FORMAT_TEXT,
      .options = OPTIONS(OPTION_DIRECTORY),
      .description =
          "On a terminal it is shown by man if that is installed, else as help; in a pipe it is the source of the "
          "page.",
      .examples = EXAMPLES({ "pawl man instances list", NULL },
                           { "pawl man --directory ~/.local/share/man/man1", "for man pawl-instances-list" }),
      .run = run_man,
      .is_offline = true },
    { .name = "help",
      .summary = "print the help of a command",
      .argument = ARGUMENT_COMMAND,
      .argument_is_optional = true,
      .formats = FORMAT_TEXT,
      .examples = EXAMPLES({ "pawl help instances list", NULL }),
      .run = run_help,
      .is_offline = true },
    { .name = "complete",
      .summary = "print what the last of these words may become; for the scripts of completion",
      .argument = ARGUMENT_COMMAND,
      .argument_is_optional = true,
      .formats = FORMAT_TEXT,
      .run = run_complete,
      .is_hidden = true,
      .is_offline = true },
    { .name = NULL },
};

const struct command root_command = {
    .name = "pawl",
    .summary = "look at and control a durable workflow engine, over HTTP",
    .description = "Talks to pawld, or to any program that serves its API.",
    .children = top_commands,
    .options = (const enum option_id[]){ OPTION_VERSION, OPTION_NONE },
    .examples =
        (const struct pw_entry[]){
            { "pawl status", "is the server there, and what does it do?" },
            { "pawl instances create order --id order-1 --params '{\"sku\": \"teapot\"}'", "begin something" },
            { "pawl instances get order/order-1", "how does it stand?" },
            { "pawl instances why order/order-1", "what is it waiting for?" },
            { "pawl instances list --all -s errored -o ids | pawl instances restart -", "start all that failed over" },
            { "pawl --base-url https://pawl.example.org/api --token-file ~/.pawl-token instances list", "elsewhere" },
            { NULL, NULL } },
};

const struct command *command_child(const struct command *parent, const char *name)
{
    for (const struct command *child = parent->children; child != NULL && child->name != NULL; child++)
        if (strcmp(child->name, name) == 0)
            return child->same_as != NULL ? child->same_as : child;
    return NULL;
}

static bool is_among(const enum option_id *list, enum option_id id)
{
    for (; list != NULL && *list != OPTION_NONE; list++)
        if (*list == id)
            return true;
    return false;
}

bool command_takes(const struct command *command, enum option_id id)
{
    return is_among(global_options, id) || is_among(command->options, id);
}

bool command_requires(const struct command *command, enum option_id id)
{
    return is_among(command->required, id);
}

#define INSTANCE_HELP "INSTANCE: WORKFLOW/ID, or ID alone; the id \"latest\" is the newest"
#define FROM_INPUT "; - reads them from standard input, one on a line"

static const struct argument {
    const char *usage, *help;
    bool is_many;
} arguments[] = {
    [ARGUMENT_NONE] = { "", NULL, false },
    [ARGUMENT_WORKFLOW] = { "[WORKFLOW]", "WORKFLOW: its name; the same as --workflow", false },
    [ARGUMENT_NEW] = { "WORKFLOW[/ID]",
                       "WORKFLOW[/ID]: of which workflow, and with which id; the same as --workflow and --id", false },
    [ARGUMENT_INSTANCE] = { "INSTANCE", INSTANCE_HELP, false },
    [ARGUMENT_INSTANCES] = { "INSTANCE ...", INSTANCE_HELP FROM_INPUT, true },
    [ARGUMENT_DELIVERIES] = { "DELIVERY ...", "DELIVERY: its id" FROM_INPUT, true },
    [ARGUMENT_FUNCTIONS] = { "FUNCTION ...",
                             "FUNCTION: what the workflow calls, without the @ that it is shown with; up to 64 of them",
                             true },
    [ARGUMENT_TOKEN] = { "TOKEN",
                         "TOKEN: a secret, which every user of the machine can see on a command line; - reads it from "
                         "standard input",
                         false },
    [ARGUMENT_SHELL] = { "bash|zsh|fish", NULL, false },
    [ARGUMENT_COMMAND] = { "[COMMAND ...]", NULL, true },
};

const char *command_argument(const struct command *command)
{
    bool is_optional = command->argument == ARGUMENT_INSTANCE && command->argument_is_optional;
    return is_optional ? "[INSTANCE]" : arguments[command->argument].usage;
}

const char *command_argument_help(const struct command *command)
{
    return arguments[command->argument].help;
}

size_t command_arguments_max(const struct command *command)
{
    return command->argument == ARGUMENT_NONE ? 0 : arguments[command->argument].is_many ? SIZE_MAX : 1;
}
