/* sweep.c - decides which cases of a crash sweep are played, and judges each.  See include/pawl/testing.h.
 *
 * The cases, in this order: the script undisturbed; replayed at every durable call; with a crash before and after
 * every commit that changed something; and replayed just before its end, a day later.  Every case must end and take
 * the same path as before.  A crashed case must also have the outcome, the instances and the steps of the
 * undisturbed one. */
#include "testing/sweep.h"

#include <stdio.h>

#include "common/duration.h"
#include "base/error.h"
#include "base/limits.h"
#include "value/value.h"

enum { TURNS_MAX_DEFAULT = 1000, FINDINGS_MAX_DEFAULT = 10, FINDINGS_MAX = 1000 };

struct sweep {
    struct pawl_sweep_options options; /* with defaults filled in */
    pawl_scope *scope;
    struct pw_sweep_findings findings;
    struct pw_sweep_play undisturbed; /* kept, because every other play is compared with it */
    const char **commits;
    int64_t crashes;
};

/* ---- Findings of one case ---------------------------------------------------------------------------------------- */

static const char *where_of(const struct sweep *sweep, const struct pw_sweep_case *of)
{
    const struct pw_rows *commits = of->crash_at > 0 ? &sweep->undisturbed.crash->commits : NULL;
    if (of->replays)
        return "replayed at every step";
    if (of->later)
        return "replayed just before its end, a day later";
    for (size_t i = 0; commits != NULL && i < commits->count; i++) {
        const struct pw_sweep_commit *commit = &((const struct pw_sweep_commit *)commits->rows)[i];
        if (commit->number == of->crash_at)
            return pawl_scope_format(sweep->scope, "crashed just %s commit %zu (%s)", of->after ? "after" : "before",
                                     i + 1, commit->text);
    }
    return "undisturbed";
}

/* Shows the lists side by side, if there are any. */
PAWL_PRINTF(6, 7)
static void found(struct sweep *sweep, const struct pw_sweep_play *play, enum pawl_sweep_kind kind,
                  const struct pw_sweep_list *expected, const struct pw_sweep_list *seen, const char *format, ...)
{
    struct pawl_sweep_finding finding = { .kind = kind, .where = play->where };
    va_list arguments;
    va_start(arguments, format);
    if (seen == NULL || pw_sweep_compare(sweep->scope, expected, seen, &finding))
        finding.text = pw_scope_format_list(sweep->scope, format, arguments);
    va_end(arguments);
    pw_sweep_add_finding(&sweep->findings, &finding);
}

enum { WHOSE_SIZE = PW_WORKFLOW_NAME_MAX + 16 };

/* ' of "child"', unless it is the workflow that the sweep is about. */
static const char *whose(const struct pw_sweep_step *step, char buffer[WHOSE_SIZE])
{
    if (step->run->is_main)
        return "";
    snprintf(buffer, WHOSE_SIZE, " of \"%s\"", step->run->workflow);
    return buffer;
}

static const struct pw_sweep_list nothing = { 0 };

/* ---- How every case is judged ------------------------------------------------------------------------------------ */

/* True if there was a finding. */
static bool judge_end(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const struct pw_sweep_watch *watch = &play->watch;
    char of[WHOSE_SIZE];
    if (watch->looping.count > 0)
        found(sweep, play, PAWL_SWEEP_ENDLESS, &nothing, &watch->looping, "the function%s%s",
              whose(watch->looping.calls[0].step, of),
              watch->is_unheeded
                  ? " goes on making durable calls after PAWL_SUSPENDED was answered: hand that on at once, "
                    "as PAWL_TRY() does"
                  : " makes durable calls without end; does it loop?");
    else if (watch->differs)
        found(sweep, play, PAWL_SWEEP_NONDETERMINISTIC, &watch->expected, &watch->seen,
              "run again, the function%s does not make the same durable calls",
              whose(watch->expected.calls[0].step, of));
    else if (play->endless != NULL)
        found(sweep, play, PAWL_SWEEP_ENDLESS, NULL, NULL, "%s", play->endless);
    else if (watch->ran_twice != NULL)
        found(sweep, play, PAWL_SWEEP_RAN_TWICE, NULL, NULL,
              "the body of step \"%s\"%s ran again although it was completed", watch->ran_twice->name.data,
              whose(watch->ran_twice, of));
    else if (play->unfinished != NULL)
        found(sweep, play, PAWL_SWEEP_UNFINISHED, NULL, NULL, "%s", play->unfinished);
    else
        return false;
    return true;
}

/* Judged once, because the other cases make the same calls. */
static void judge_names(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const struct pw_sweep_list *repeated = &play->watch.repeated;
    for (size_t i = 0; i + 1 < repeated->count; i += 2) {
        char of[WHOSE_SIZE];
        const struct pw_sweep_call *first = &repeated->calls[i];
        const char *name = first->step->name.data;
        struct pawl_sweep_finding finding = { .kind = PAWL_SWEEP_REPEATED, .where = play->where };
        if (pw_sweep_pair(sweep->scope, first, first + 1, &finding))
            finding.text = pawl_scope_format(
                sweep->scope,
                "\"%s\"%s is called twice in one pass, and the same name is the same step, with one result; give each "
                "call a name of its own, in a loop with an index (\"%s 1\", \"%s 2\")",
                name, whose(first->step, of), name, name);
        pw_sweep_add_finding(&sweep->findings, &finding);
    }
}

static bool judge_by_caller(struct sweep *sweep, const struct pw_sweep_play *play)
{
    struct pawl_error told = { PAWL_OK, "" };
    if (sweep->options.check == NULL)
        return false;
    pawl_status status = sweep->options.check(play->world, sweep->options.user, &told);
    if (status == PAWL_OK)
        return false;
    found(sweep, play, PAWL_SWEEP_CHECK, NULL, NULL, "%s", told.text[0] != '\0' ? told.text : pawl_status_text(status));
    return true;
}

/* Finds errors that are mistakes in the code.  The first group are statuses that code must not make up.  Honest
 * errors may have the same names, but their texts differ.  In the second group a call was refused because of its
 * arguments.  Nothing from outside, such as a service or an event, can cause one of these. */
static bool judge_mistake(struct sweep *sweep, const struct pw_sweep_play *play, const char *message)
{
    static const struct {
        int status;
        const char *text; /* NULL: its own message is shown */
    } mistakes[] = {
        { PAWL_SUSPENDED, "a body returned PAWL_SUSPENDED, which is for durable calls to say" },
        { PAWL_INTERRUPTED, "PAWL_INTERRUPTED was returned, but nobody had interrupted the run" },
        { -1, "what was returned is no pawl_status" },
        { PAWL_INVALID, NULL },
        { PAWL_INVALID_STEP_NAME, NULL },
        { PAWL_DUPLICATE_STEP_KEY, NULL },
        { PAWL_STEP_TYPE_MISMATCH, NULL },
        { PAWL_INVALID_DURATION, NULL },
        { PAWL_SLEEP_RANGE, NULL },
        { PAWL_WAIT_FOR_EVENT_TIMEOUT_RANGE, NULL },
        { PAWL_INVALID_LOG, NULL },
        { PAWL_INVALID_WORKFLOW_NAME, NULL },
        { PAWL_INVALID_INSTANCE_ID, NULL },
        { PAWL_INVALID_EVENT_TYPE, NULL },
        { PAWL_INVALID_FUNCTION_NAME, NULL },
    };
    const char *name = play->error_name, *text = NULL;
    bool is_mistake = strcmp(name, "SUSPENDED_FOR_NOTHING") == 0; /* see workflow/register.c */
    for (size_t i = 0; !is_mistake && i < sizeof mistakes / sizeof mistakes[0]; i++) {
        pawl_status status = (pawl_status)mistakes[i].status;
        text = mistakes[i].text;
        is_mistake = strcmp(name, pawl_status_name(status)) == 0 &&
                     (text == NULL || strcmp(message, pawl_status_text(status)) == 0);
    }
    if (is_mistake && text != NULL)
        found(sweep, play, PAWL_SWEEP_MISUSE, NULL, NULL, "a mistake in the code, not bad luck: %s", text);
    else if (is_mistake)
        found(sweep, play, PAWL_SWEEP_MISUSE, NULL, NULL, "a mistake in the code, not bad luck: %s: %s", name, message);
    return is_mistake;
}

/* Judged once, because the other cases end with the same error; if they do not, that is the finding. */
static void judge_error(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const char *name = play->error_name, *message = play->error_message != NULL ? play->error_message : "";
    if (name == NULL || judge_mistake(sweep, play, message))
        return;
    if (strcmp(name, pawl_status_name(PAWL_MAX_STEPS_EXCEEDED)) == 0)
        found(sweep, play, PAWL_SWEEP_ENDLESS, NULL, NULL,
              "the run used up its steps (MAX_STEPS_EXCEEDED); does it loop?");
    else if (strcmp(name, pawl_status_name(PAWL_MAX_WAITS_EXCEEDED)) == 0)
        found(sweep, play, PAWL_SWEEP_ENDLESS, NULL, NULL,
              "the run used up its waits (MAX_WAITS_EXCEEDED); does it loop?");
    else if (strcmp(name, pawl_status_name(PAWL_WORKFLOW_NOT_FOUND)) == 0)
        found(sweep, play, PAWL_SWEEP_MISUSE, NULL, NULL, "%s, neither in what is swept nor by the setup",
              play->error_message != NULL ? message : "a workflow is not registered");
}

/* ---- How a crashed case is judged -------------------------------------------------------------------------------- */

static bool has_call(const struct pw_sweep_list *list, const struct pw_sweep_call *wanted)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->calls[i].kind == wanted->kind && pw_text_equal(list->calls[i].step->name, wanted->step->name))
            return true;
    }
    return false;
}

/* In any order, because branches may be recorded in a different order. */
static bool has_all(const struct pw_sweep_list *list, const struct pw_sweep_list *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        if (!has_call(list, &wanted->calls[i]))
            return false;
    }
    return true;
}

static void judge_steps(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const struct pw_sweep_run *before = pw_sweep_main_run(&sweep->undisturbed.watch);
    const struct pw_sweep_run *after = pw_sweep_main_run(&play->watch);
    const struct pw_sweep_list *expected = before != NULL ? &before->recorded : &nothing;
    const struct pw_sweep_list *seen = after != NULL ? &after->recorded : &nothing;
    if (!has_all(expected, seen) || !has_all(seen, expected))
        found(sweep, play, PAWL_SWEEP_OUTCOME, expected, seen, "it took other steps than the undisturbed run");
}

static void judge_against_undisturbed(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const struct pw_sweep_play *before = &sweep->undisturbed;
    size_t differs = 0; /* the first workflow with another number of instances */
    while (differs < before->workflow_count && differs < play->workflow_count &&
           before->instance_counts[differs] == play->instance_counts[differs])
        differs++;
    if (strcmp(before->outcome, play->outcome) != 0)
        found(sweep, play, PAWL_SWEEP_OUTCOME, NULL, NULL, "it ended %s, undisturbed %s", play->outcome,
              before->outcome);
    else if (differs < before->workflow_count && differs < play->workflow_count)
        found(sweep, play, PAWL_SWEEP_OUTCOME, NULL, NULL, "it left %lld instances of \"%s\", undisturbed %lld",
              (long long)play->instance_counts[differs], play->workflows[differs],
              (long long)before->instance_counts[differs]);
    else if (!play->crash->crashed)
        found(sweep, play, PAWL_SWEEP_OUTCOME, NULL, NULL,
              "it never came to that commit, although nothing was different");
    else
        judge_steps(sweep, play);
}

static pawl_status play_case(struct sweep *sweep, const struct pw_sweep_case *of, struct pawl_error *error)
{
    struct pw_sweep_play play = { .options = &sweep->options, .of = *of, .where = where_of(sweep, of) };
    if (play.where == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status = pw_sweep_play_run(&play, error);
    /* If the next process begins a day later, everything may differ except the path. */
    bool is_asked = status == PAWL_OK && (!of->later || play.watch.differs);
    if (is_asked && !judge_end(sweep, &play) && !judge_by_caller(sweep, &play) && of->crash_at > 0 &&
        !sweep->options.outcome_may_vary)
        judge_against_undisturbed(sweep, &play);
    pw_sweep_play_free(&play);
    return status;
}

/* ---- The cases --------------------------------------------------------------------------------------------------- */

static pawl_status play_undisturbed(struct sweep *sweep, struct pawl_error *error)
{
    struct pw_sweep_play *play = &sweep->undisturbed;
    play->options = &sweep->options;
    play->where = where_of(sweep, &play->of);
    PAWL_TRY(pw_sweep_play_run(play, error));
    size_t count = play->crash->commits.count;
    const struct pw_sweep_commit *commits = play->crash->commits.rows;
    sweep->commits = pw_scope_take(sweep->scope, (count + 1) * sizeof *sweep->commits);
    for (size_t i = 0; sweep->commits != NULL && i < count; i++) {
        sweep->commits[i] = pawl_scope_format(sweep->scope, "%s", commits[i].text);
        if (sweep->commits[i] == NULL)
            sweep->commits = NULL;
    }
    if (sweep->commits == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    bool is_told = judge_end(sweep, play);
    if (!sweep->options.names_may_repeat)
        judge_names(sweep, play);
    if (!is_told && !judge_by_caller(sweep, play) && sweep->findings.count == 0)
        judge_error(sweep, play);
    return PAWL_OK;
}

/* If the undisturbed play or the replay has findings, the crashes are not played: they would only find the same
 * again. */
static pawl_status play_all(struct sweep *sweep, struct pawl_error *error)
{
    PAWL_TRY(play_undisturbed(sweep, error));
    if (sweep->findings.count == 0)
        PAWL_TRY(play_case(sweep, &(struct pw_sweep_case){ .replays = true }, error));
    if (sweep->findings.count > 0)
        return PAWL_OK;
    const struct pw_sweep_crash *crash = sweep->undisturbed.crash;
    const struct pw_sweep_commit *commits = crash->commits.rows;
    for (size_t i = 0; i < 2 * crash->commits.count; i++) {
        struct pw_sweep_case of = { .crash_at = commits[i / 2].number, .after = i % 2 == 1 };
        PAWL_TRY(play_case(sweep, &of, error));
        sweep->crashes++;
        if (sweep->findings.out_of_memory)
            return pw_error_plain(error, PAWL_NOMEM);
        if (sweep->findings.count == sweep->findings.max)
            break;
    }
    if (sweep->findings.count > 0 || crash->ended_at == 0)
        return PAWL_OK;
    return play_case(sweep, &(struct pw_sweep_case){ .crash_at = crash->ended_at, .later = true }, error);
}

/* Adds the first line of the error's message.  The message is not compared, because it may contain anything. */
static const char *describe_outcome(pawl_scope *scope, const struct pw_sweep_play *play)
{
    enum { MESSAGE_SHOWN = 200 };
    const char *message = play->error_message;
    if (message == NULL || message[0] == '\0')
        return pawl_scope_format(scope, "%s", play->outcome);
    struct pw_text shown = pw_text_cut((struct pw_text){ message, strcspn(message, "\n") }, MESSAGE_SHOWN);
    return pawl_scope_format(scope, "%s: %.*s", play->outcome, (int)shown.size, shown.data);
}

static pawl_status write_report(const struct sweep *sweep, struct pawl_sweep_report *out_report,
                                struct pawl_error *error)
{
    const struct pw_sweep_play *play = &sweep->undisturbed;
    struct pawl_sweep_report report = { .commits = sweep->commits,
                                        .commit_count = play->crash->commits.count,
                                        .crashes = sweep->crashes,
                                        .findings = sweep->findings.rows,
                                        .finding_count = sweep->findings.count };
    if (play->outcome != NULL)
        report.outcome = describe_outcome(sweep->scope, play);
    report.text = pw_sweep_text(sweep->scope, &sweep->options, &report);
    if (report.text == NULL || (report.outcome == NULL && play->outcome != NULL))
        return pw_error_plain(error, PAWL_NOMEM);
    *out_report = report;
    return PAWL_OK;
}

/* ---- The options ------------------------------------------------------------------------------------------------- */

static pawl_status check_events(const struct pawl_sweep_options *options, struct pawl_error *error)
{
    int64_t former_ms = 0;
    for (size_t i = 0; i < options->event_count; i++) {
        const struct pawl_sweep_event *event = &options->events[i];
        int64_t after_ms = 0;
        if (event->after != NULL && !pw_duration_parse(event->after, &after_ms))
            return pw_error(error, PAWL_INVALID_DURATION,
                            "\"%.80s\" is not a duration such as \"1 hour\" or \"250 ms\"", event->after);
        if (after_ms < former_ms)
            return pw_error(error, PAWL_INVALID, "event %zu (\"%.80s\") comes before the one in front of it", i + 1,
                            event->type != NULL ? event->type : "");
        former_ms = after_ms;
    }
    return PAWL_OK;
}

static pawl_status fill_options(struct pawl_sweep_options *options, struct pawl_error *error)
{
    if (options->workflow == NULL)
        return pw_error(error, PAWL_INVALID, "a sweep needs the name of the workflow to run");
    if (options->events == NULL && options->event_count > 0)
        return pw_error(error, PAWL_INVALID, "event_count is %zu, but events is NULL", options->event_count);
    if (options->workflows == NULL && options->workflow_count > 0)
        return pw_error(error, PAWL_INVALID, "workflow_count is %zu, but workflows is NULL", options->workflow_count);
    if (options->turns_max < 0 || options->findings_max < 0 || options->findings_max > FINDINGS_MAX)
        return pw_error(error, PAWL_INVALID, "turns_max is not negative, findings_max is 0 to %d", FINDINGS_MAX);
    if (options->turns_max == 0)
        options->turns_max = TURNS_MAX_DEFAULT;
    if (options->findings_max == 0)
        options->findings_max = FINDINGS_MAX_DEFAULT;
    return check_events(options, error);
}

pawl_status pawl_sweep(pawl_scope *scope, const struct pawl_sweep_options *given, struct pawl_sweep_report *out_report,
                       struct pawl_error *error)
{
    struct sweep sweep = { .options = PAWL_SWEEP_OPTIONS_INIT, .scope = scope };
    if (scope == NULL || given == NULL || out_report == NULL ||
        !pw_options_copy(&sweep.options, sizeof sweep.options, given))
        return pw_error(error, PAWL_INVALID,
                        "a sweep needs a scope, out_report, and options made by PAWL_SWEEP_OPTIONS_INIT");
    PAWL_TRY(fill_options(&sweep.options, error));
    if (!pw_sweep_findings_init(&sweep.findings, scope, (size_t)sweep.options.findings_max))
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status = play_all(&sweep, error);
    if (status == PAWL_OK && sweep.findings.out_of_memory)
        status = pw_error_plain(error, PAWL_NOMEM);
    if (status == PAWL_OK)
        status = write_report(&sweep, out_report, error);
    pw_sweep_play_free(&sweep.undisturbed);
    return status;
}
