/* sweep_report.c - findings, the comparison of two lists of steps, and the text for people. */
#include <stdio.h>
#include <string.h>

#include "testing/sweep.h"
#include "value/value.h"

enum { LINES_BEFORE = 3, LINES_AFTER = 5 };

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

bool pw_sweep_findings_init(struct pw_sweep_findings *findings, pawl_scope *scope, size_t max)
{
    *findings = (struct pw_sweep_findings){ .scope = scope, .max = max };
    findings->rows = pw_scope_take(scope, max * sizeof *findings->rows);
    return findings->rows != NULL;
}

static bool is_same(const struct pawl_sweep_finding *left, const struct pawl_sweep_finding *right)
{
    if (left->kind != right->kind || strcmp(left->text, right->text) != 0 || left->line_count != right->line_count)
        return false;
    for (size_t i = 0; i < left->line_count; i++) {
        if (left->lines[i].sign != right->lines[i].sign || strcmp(left->lines[i].text, right->lines[i].text) != 0)
            return false;
    }
    return true;
}

void pw_sweep_add_finding(struct pw_sweep_findings *findings, const struct pawl_sweep_finding *finding)
{
    if (finding->text == NULL || finding->where == NULL) {
        findings->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < findings->count; i++) {
        if (is_same(&findings->rows[i], finding)) {
            findings->rows[i].times++;
            return;
        }
    }
    if (findings->count == findings->max)
        return;
    findings->rows[findings->count] = *finding;
    findings->rows[findings->count++].times = 1;
}

/* ---- Two lists of steps ------------------------------------------------------------------------------------------ */

static const char *describe_call(pawl_scope *scope, const char *which, const struct pw_sweep_call *call)
{
    const char *kind = pawl_step_kind_name(call->kind), *name = call->step->name.data,
               *end = call->branches == 1 ? "" : "es";
    if (call->is_all)
        return pawl_scope_format(scope, "%s: all of %zu branch%s", which, call->branches, end);
    if (call->branches > 0)
        return pawl_scope_format(scope, "%s: %s \"%s\" of %zu branch%s", which, kind, name, call->branches, end);
    return pawl_scope_format(scope, "%s: %s \"%s\"", which, kind, name);
}

static bool fill_line(pawl_scope *scope, char sign, const char *which, const struct pw_sweep_call *call,
                      struct pawl_sweep_line *line)
{
    const char *object = NULL;
    *line = (struct pawl_sweep_line){ .sign = sign };
    line->text = describe_call(scope, which, call);
    if (line->text == NULL)
        return false;
    if (!pw_sweep_place_tell(call->place, &object, &line->offset))
        return true;
    line->object = pawl_scope_format(scope, "%s", object);
    return line->object != NULL;
}

static bool fill_step(pawl_scope *scope, char sign, size_t position, const struct pw_sweep_call *call,
                      struct pawl_sweep_line *line)
{
    char which[32];
    snprintf(which, sizeof which, "step %zu", position + 1);
    return fill_line(scope, sign, which, call, line);
}

static size_t min_of(size_t left, size_t right)
{
    return left < right ? left : right;
}

bool pw_sweep_compare(pawl_scope *scope, const struct pw_sweep_list *expected, const struct pw_sweep_list *seen,
                      struct pawl_sweep_finding *finding)
{
    struct pawl_sweep_line *lines = pw_scope_take(scope, (LINES_BEFORE + 2 * LINES_AFTER) * sizeof *lines);
    size_t count = 0, same = 0;
    bool complete = lines != NULL;
    while (same < expected->count && same < seen->count &&
           pw_sweep_is_same_call(&expected->calls[same], &seen->calls[same]))
        same++;
    for (size_t i = same > LINES_BEFORE ? same - LINES_BEFORE : 0; complete && i < same; i++)
        complete = fill_step(scope, ' ', i, &seen->calls[i], &lines[count++]);
    for (size_t i = same; complete && i < min_of(expected->count, same + LINES_AFTER); i++)
        complete = fill_step(scope, '-', i, &expected->calls[i], &lines[count++]);
    for (size_t i = same; complete && i < min_of(seen->count, same + LINES_AFTER); i++)
        complete = fill_step(scope, '+', i, &seen->calls[i], &lines[count++]);
    finding->lines = lines;
    finding->line_count = count;
    return complete;
}

bool pw_sweep_pair(pawl_scope *scope, const struct pw_sweep_call *first, const struct pw_sweep_call *again,
                   struct pawl_sweep_finding *finding)
{
    struct pawl_sweep_line *lines = pw_scope_take(scope, 2 * sizeof *lines);
    finding->lines = lines;
    finding->line_count = 2;
    return lines != NULL && fill_line(scope, ' ', "first", first, &lines[0]) &&
           fill_line(scope, '+', "again", again, &lines[1]);
}

/* ---- The text ---------------------------------------------------------------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static const char *add_line(pawl_scope *scope, const char *text, const struct pawl_sweep_line *line,
                            pawl_sweep_place_fn *place)
{
    char told[400];
    if (line->object == NULL)
        return pawl_scope_format(scope, "%s    %c %s\n", text, line->sign, line->text);
    if (place == NULL || !place(line->object, line->offset, told, sizeof told)) {
        const char *slash = strrchr(line->object, '/');
        snprintf(told, sizeof told, "%s+0x%llx", slash != NULL ? slash + 1 : line->object,
                 (unsigned long long)line->offset);
    }
    return pawl_scope_format(scope, "%s    %c %-40s %s\n", text, line->sign, line->text, told);
}

static const char *add_finding(pawl_scope *scope, const char *text, const struct pawl_sweep_finding *finding,
                               pawl_sweep_place_fn *place)
{
    text = pawl_scope_format(scope, "%s  %s: %s\n", text, finding->where, finding->text);
    for (size_t i = 0; text != NULL && i < finding->line_count; i++)
        text = add_line(scope, text, &finding->lines[i], place);
    if (text != NULL && finding->times > 1)
        text = pawl_scope_format(scope, "%s    and the same in %lld more case%s\n", text, (long long)finding->times - 1,
                                 plural((size_t)finding->times - 1));
    return text;
}

/* Describes a play without an outcome.  It may have an end that was not reached. */
static const char *describe_no_outcome(const struct pawl_sweep_report *report)
{
    bool is_stopped = report->finding_count > 0 && report->findings[0].kind == PAWL_SWEEP_NONDETERMINISTIC;
    return is_stopped ? "stopped at what was found" : "no end";
}

const char *pw_sweep_text(pawl_scope *scope, const struct pawl_sweep_options *options,
                          const struct pawl_sweep_report *report)
{
    const char *text =
        pawl_scope_format(scope, "%s: %s, %zu commit%s, %lld crash%s: ", options->workflow,
                          report->outcome != NULL ? report->outcome : describe_no_outcome(report), report->commit_count,
                          plural(report->commit_count), (long long)report->crashes, report->crashes == 1 ? "" : "es");
    if (text != NULL && report->finding_count == 0)
        return pawl_scope_format(scope, "%sok\n", text);
    if (text != NULL)
        text =
            pawl_scope_format(scope, "%s%zu finding%s\n", text, report->finding_count, plural(report->finding_count));
    for (size_t i = 0; text != NULL && i < report->finding_count; i++)
        text = add_finding(scope, text, &report->findings[i], options->place);
    if (text != NULL && report->finding_count == (size_t)options->findings_max)
        text = pawl_scope_format(scope, "%s  and no further: that many are enough\n", text);
    return text;
}
