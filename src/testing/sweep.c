/* sweep.c - which cases are played, and what is asked of each.  See include/pawl/testing.h. */
#include "testing/sweep.h"

#include "base/duration.h"
#include "base/error.h"
#include "value/value.h"

enum { TURNS_MAX_DEFAULT = 1000, FINDINGS_MAX_DEFAULT = 10, FINDINGS_MAX = 1000 };

struct sweep {
    struct pawl_sweep_options options; /* filled in */
    pawl_scope *scope;
    struct pw_sweep_findings findings;
    struct pw_sweep_play undisturbed; /* kept: everything is compared with it */
    const char **commits;
    int64_t crashes;
};

/* ---- Findings of one case --------------------------------------------------------------------------------------------------- */

static const char *where_of(const struct sweep *sweep, const struct pw_sweep_case *of)
{
    const struct pw_sweep_crash *crash = sweep->undisturbed.crash;
    if (of->replays)
        return "replayed at every step";
    if (of->later)
        return "replayed just before its end, a day later";
    for (size_t i = 0; of->crash_at > 0 && i < crash->commit_count; i++) {
        if (crash->commits[i].number == of->crash_at)
            return pawl_scope_format(sweep->scope, "crashed just %s commit %zu (%s)", of->after ? "after" : "before",
                                     i + 1, crash->commits[i].text);
    }
    return "undisturbed";
}

static void found(struct sweep *sweep, const struct pw_sweep_play *play, enum pawl_sweep_kind kind, const char *text)
{
    struct pawl_sweep_finding finding = { .kind = kind, .where = play->where, .text = text };
    pw_sweep_add_finding(&sweep->findings, &finding);
}

static void found_lists(struct sweep *sweep, const struct pw_sweep_play *play, enum pawl_sweep_kind kind,
                        const char *text, const struct pw_sweep_list *expected, const struct pw_sweep_list *seen)
{
    struct pawl_sweep_finding finding = { .kind = kind, .where = play->where, .text = text };
    if (!pw_sweep_compare(sweep->scope, expected, seen, &finding))
        finding.text = NULL;
    pw_sweep_add_finding(&sweep->findings, &finding);
}

/* ' of "child"', where it is not the workflow that the sweep is about; NULL when memory is out. */
static const char *whose(const struct sweep *sweep, const struct pw_sweep_step *step)
{
    return step->run->is_main ? "" : pawl_scope_format(sweep->scope, " of \"%s\"", step->run->workflow);
}

/* NULL when memory is out. */
static const char *say_whose(const struct sweep *sweep, const char *before, const struct pw_sweep_step *step,
                             const char *after)
{
    const char *of = whose(sweep, step);
    return before != NULL && of != NULL ? pawl_scope_format(sweep->scope, "%s%s%s", before, of, after) : NULL;
}

/* ---- What is asked of every case --------------------------------------------------------------------------------------------- */

/* True when it had something to say. */
static bool judge_end(struct sweep *sweep, const struct pw_sweep_play *play)
{
    static const struct pw_sweep_list nothing = { 0 };
    const struct pw_sweep_watch *watch = &play->watch;
    if (watch->looping.count > 0) {
        found_lists(sweep, play, PAWL_SWEEP_ENDLESS,
                    say_whose(sweep, "the function", watch->looping.calls[0].step,
                              watch->is_unheeded ? " goes on making durable calls after PAWL_SUSPENDED was answered: "
                                                   "hand that on at once, as PAWL_TRY() does"
                                                 : " makes durable calls without end; does it loop?"),
                    &nothing, &watch->looping);
    } else if (watch->differs) {
        found_lists(sweep, play, PAWL_SWEEP_NONDETERMINISTIC,
                    say_whose(sweep, "run again, the function", watch->expected.calls[0].step,
                              " does not make the same durable calls"),
                    &watch->expected, &watch->seen);
    } else if (play->endless != NULL) {
        found(sweep, play, PAWL_SWEEP_ENDLESS, pawl_scope_format(sweep->scope, "%s", play->endless));
    } else if (watch->ran_twice != NULL) {
        found(sweep, play, PAWL_SWEEP_RAN_TWICE,
              say_whose(sweep, pawl_scope_format(sweep->scope, "the body of step \"%s\"", watch->ran_twice->name.data),
                        watch->ran_twice, " ran again although it was completed"));
    } else if (play->unfinished != NULL) {
        found(sweep, play, PAWL_SWEEP_UNFINISHED, pawl_scope_format(sweep->scope, "%s", play->unfinished));
    } else {
        return false;
    }
    return true;
}

static void found_pair(struct sweep *sweep, const struct pw_sweep_play *play, const struct pw_sweep_call *first,
                       const struct pw_sweep_call *again)
{
    const char *name = first->step->name.data, *of = whose(sweep, first->step);
    struct pawl_sweep_finding finding = { .kind = PAWL_SWEEP_REPEATED, .where = play->where };
    if (of != NULL && pw_sweep_pair(sweep->scope, first, again, &finding))
        finding.text = pawl_scope_format(
            sweep->scope,
            "\"%s\"%s is called twice in one pass, and the same name is the same step, with one result; give each call a "
            "name of its own, in a loop with an index (\"%s 1\", \"%s 2\")",
            name, of, name, name);
    pw_sweep_add_finding(&sweep->findings, &finding);
}

/* Asked once: the other cases make the same calls. */
static void judge_names(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const struct pw_sweep_list *repeated = &play->watch.repeated;
    for (size_t i = 0; i + 1 < repeated->count; i += 2)
        found_pair(sweep, play, &repeated->calls[i], &repeated->calls[i + 1]);
}

static bool judge_by_caller(struct sweep *sweep, const struct pw_sweep_play *play)
{
    struct pawl_error told = { PAWL_OK, "" };
    if (sweep->options.check == NULL)
        return false;
    pawl_status status = sweep->options.check(play->world, sweep->options.user, &told);
    if (status == PAWL_OK)
        return false;
    found(sweep, play, PAWL_SWEEP_CHECK,
          pawl_scope_format(sweep->scope, "%s", told.text[0] != '\0' ? told.text : pawl_status_text(status)));
    return true;
}

/* Statuses that are not the code's to make up; NULL: it is none of these.  As error names they may be: the texts tell. */
static const char *find_made_up(const struct pw_sweep_play *play)
{
    static const struct {
        int status;
        const char *text;
    } made_up[] = {
        { PAWL_SUSPENDED, "a body returned PAWL_SUSPENDED, which is for durable calls to say" },
        { PAWL_INTERRUPTED, "PAWL_INTERRUPTED was returned, but nobody had interrupted the run" },
        { -1, "what was returned is no pawl_status" },
    };
    for (size_t i = 0; i < sizeof made_up / sizeof made_up[0]; i++) {
        pawl_status status = (pawl_status)made_up[i].status;
        if (strcmp(play->error_name, pawl_status_name(status)) == 0 && play->error_message != NULL &&
            strcmp(play->error_message, pawl_status_text(status)) == 0)
            return made_up[i].text;
    }
    return NULL;
}

/* A call was refused for what the code gave it.  None of these is what others can be the reason of: a service, or somebody
 * who sends something. */
static bool is_misuse(const char *error_name)
{
    static const pawl_status misuses[] = {
        PAWL_INVALID,
        PAWL_INVALID_STEP_NAME,
        PAWL_DUPLICATE_STEP_KEY,
        PAWL_STEP_TYPE_MISMATCH,
        PAWL_INVALID_DURATION,
        PAWL_SLEEP_RANGE,
        PAWL_WAIT_FOR_EVENT_TIMEOUT_RANGE,
        PAWL_INVALID_LOG,
        PAWL_INVALID_WORKFLOW_NAME,
        PAWL_INVALID_INSTANCE_ID,
        PAWL_INVALID_EVENT_TYPE,
        PAWL_INVALID_FUNCTION_NAME,
    };
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        if (strcmp(error_name, pawl_status_name(misuses[i])) == 0)
            return true;
    }
    return strcmp(error_name, "SUSPENDED_FOR_NOTHING") == 0; /* see workflow/register.c */
}

/* Asked once: the others end with the same error, or are found for that. */
static void judge_error(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const char *name = play->error_name, *made_up = name != NULL ? find_made_up(play) : NULL;
    if (name == NULL)
        return;
    if (made_up != NULL) {
        found(sweep, play, PAWL_SWEEP_MISUSE,
              pawl_scope_format(sweep->scope, "a mistake in the code, not bad luck: %s", made_up));
        return;
    }
    if (strcmp(name, pawl_status_name(PAWL_MAX_STEPS_EXCEEDED)) == 0)
        found(sweep, play, PAWL_SWEEP_ENDLESS, "the run used up its steps (MAX_STEPS_EXCEEDED); does it loop?");
    else if (strcmp(name, pawl_status_name(PAWL_MAX_WAITS_EXCEEDED)) == 0)
        found(sweep, play, PAWL_SWEEP_ENDLESS, "the run used up its waits (MAX_WAITS_EXCEEDED); does it loop?");
    else if (is_misuse(name))
        found(sweep, play, PAWL_SWEEP_MISUSE,
              pawl_scope_format(sweep->scope, "a mistake in the code, not bad luck: %s: %s", name,
                                play->error_message != NULL ? play->error_message : ""));
    else if (strcmp(name, pawl_status_name(PAWL_WORKFLOW_NOT_FOUND)) == 0)
        found(sweep, play, PAWL_SWEEP_MISUSE,
              pawl_scope_format(sweep->scope, "%s, neither in what is swept nor by the setup",
                                play->error_message != NULL ? play->error_message : "a workflow is not registered"));
}

/* ---- What is asked of a crashed one --------------------------------------------------------------------------------------------- */

static bool has_call(const struct pw_sweep_list *list, const struct pw_sweep_call *wanted)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->calls[i].kind == wanted->kind && pw_text_equal(list->calls[i].step->name, wanted->step->name))
            return true;
    }
    return false;
}

/* In any order: branches may be recorded in another one. */
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
    static const struct pw_sweep_list nothing = { 0 };
    const struct pw_sweep_run *before = pw_sweep_main_run(&sweep->undisturbed.watch);
    const struct pw_sweep_run *after = pw_sweep_main_run(&play->watch);
    const struct pw_sweep_list *expected = before != NULL ? &before->recorded : &nothing;
    const struct pw_sweep_list *seen = after != NULL ? &after->recorded : &nothing;
    if (!has_all(expected, seen) || !has_all(seen, expected))
        found_lists(sweep, play, PAWL_SWEEP_OUTCOME, "it took other steps than the undisturbed run", expected, seen);
}

static void judge_against_undisturbed(struct sweep *sweep, const struct pw_sweep_play *play)
{
    const struct pw_sweep_play *before = &sweep->undisturbed;
    if (strcmp(before->outcome, play->outcome) != 0) {
        found(sweep, play, PAWL_SWEEP_OUTCOME,
              pawl_scope_format(sweep->scope, "it ended %s, undisturbed %s", play->outcome, before->outcome));
        return;
    }
    for (size_t i = 0; i < before->workflow_count && i < play->workflow_count; i++) {
        if (before->instance_counts[i] != play->instance_counts[i]) {
            found(sweep, play, PAWL_SWEEP_OUTCOME,
                  pawl_scope_format(sweep->scope, "it left %lld instances of \"%s\", undisturbed %lld",
                                    (long long)play->instance_counts[i], play->workflows[i],
                                    (long long)before->instance_counts[i]));
            return;
        }
    }
    if (!play->crash->crashed)
        found(sweep, play, PAWL_SWEEP_OUTCOME, "it never came to that commit, although nothing was different");
    else
        judge_steps(sweep, play);
}

static pawl_status play_case(struct sweep *sweep, const struct pw_sweep_case *of, struct pawl_error *error)
{
    struct pw_sweep_play play = { .options = &sweep->options, .of = *of, .where = where_of(sweep, of) };
    if (play.where == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    pawl_status status = pw_sweep_play_run(&play, error);
    /* A day later all but the path may differ. */
    bool is_asked = status == PAWL_OK && (!of->later || play.watch.differs);
    if (is_asked && !judge_end(sweep, &play) && !judge_by_caller(sweep, &play) && of->crash_at > 0 &&
        !sweep->options.outcome_may_vary)
        judge_against_undisturbed(sweep, &play);
    pw_sweep_play_free(&play);
    return status;
}

/* ---- The cases ---------------------------------------------------------------------------------------------------------------------- */

static pawl_status play_undisturbed(struct sweep *sweep, struct pawl_error *error)
{
    struct pw_sweep_play *play = &sweep->undisturbed;
    play->options = &sweep->options;
    play->where = where_of(sweep, &play->of);
    pawl_status status = pw_sweep_play_run(play, error);
    if (status != PAWL_OK)
        return status;
    const struct pw_sweep_crash *crash = play->crash;
    sweep->commits = pw_scope_take(sweep->scope, (crash->commit_count + 1) * sizeof *sweep->commits);
    if (sweep->commits == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    for (size_t i = 0; i < crash->commit_count; i++) {
        sweep->commits[i] = pawl_scope_format(sweep->scope, "%s", crash->commits[i].text);
        if (sweep->commits[i] == NULL)
            return pw_error_plain(error, PAWL_NOMEM);
    }
    bool is_told = judge_end(sweep, play);
    if (!sweep->options.names_may_repeat)
        judge_names(sweep, play);
    if (!is_told && !judge_by_caller(sweep, play) && sweep->findings.count == 0)
        judge_error(sweep, play);
    return PAWL_OK;
}

/* A workflow that is not sound undisturbed would only be found unsound again and again. */
static pawl_status play_all(struct sweep *sweep, struct pawl_error *error)
{
    pawl_status status = play_undisturbed(sweep, error);
    if (status == PAWL_OK && sweep->findings.count == 0)
        status = play_case(sweep, &(struct pw_sweep_case){ .replays = true }, error);
    const struct pw_sweep_crash *crash = sweep->undisturbed.crash;
    if (sweep->findings.count > 0)
        return status;
    for (size_t i = 0; status == PAWL_OK && i < 2 * crash->commit_count; i++) {
        struct pw_sweep_case of = { .crash_at = crash->commits[i / 2].number, .after = i % 2 == 1 };
        status = play_case(sweep, &of, error);
        sweep->crashes++;
        if (sweep->findings.out_of_memory)
            return pw_error_plain(error, PAWL_NOMEM);
        if (sweep->findings.count == sweep->findings.max)
            break;
    }
    if (status == PAWL_OK && sweep->findings.count == 0 && crash->ended_at > 0)
        status = play_case(sweep, &(struct pw_sweep_case){ .crash_at = crash->ended_at, .later = true }, error);
    return status;
}

/* With the first line of an error's message.  That is not compared: it may hold anything. */
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
                                        .commit_count = play->crash->commit_count,
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

/* ---- The options ---------------------------------------------------------------------------------------------------------------------- */

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
    pawl_status status = fill_options(&sweep.options, error);
    if (status != PAWL_OK)
        return status;
    if (!pw_sweep_findings_init(&sweep.findings, scope, (size_t)sweep.options.findings_max))
        return pw_error_plain(error, PAWL_NOMEM);
    status = play_all(&sweep, error);
    if (status == PAWL_OK && sweep.findings.out_of_memory)
        status = pw_error_plain(error, PAWL_NOMEM);
    if (status == PAWL_OK)
        status = write_report(&sweep, out_report, error);
    pw_sweep_play_free(&sweep.undisturbed);
    return status;
}
