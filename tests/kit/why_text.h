/* why_text.h - the tree of pawl_why() as one line, so that tests can compare it:
 *     all both(sleeping a-nap +3600s, first race(waitingForEvent b paid !send-event, ...))
 * A leaf is its kind, its step, what it waits for, how many seconds it lasts from its start, and its command. */
#ifndef TESTS_WHY_TEXT_H
#define TESTS_WHY_TEXT_H

#include "pawl/service.h"

static inline const char *why_text(pawl_scope *scope, const struct pawl_why_node *node)
{
    const char *line = pawl_why_kind_name(node->kind);
    const struct pawl_step_record *step = node->step;
    if (node->fork != NULL)
        line = pawl_scope_format(scope, "%s %s", line, node->fork);
    if (step != NULL)
        line = pawl_scope_format(scope, "%s %s", line, step->name);
    if (step != NULL && step->waits_for != NULL && step->waits_for->event_type != NULL)
        line = pawl_scope_format(scope, "%s %s", line, step->waits_for->event_type);
    if (step != NULL && step->waits_for != NULL && step->waits_for->function != NULL)
        line = pawl_scope_format(scope, "%s @%s", line, step->waits_for->function);
    if (node->has_phase)
        line = pawl_scope_format(scope, "%s is %s", line, pawl_phase_name(node->phase));
    if (node->until_ms != 0)
        line = pawl_scope_format(scope, "%s +%llds", line, (long long)(node->until_ms - node->since_ms) / 1000);
    if (node->command.verb != PAWL_VERB_NONE)
        line = pawl_scope_format(scope, "%s !%s", line, pawl_verb_name(node->command.verb));
    for (const struct pawl_why_node *part = node->parts; part != NULL; part = part->next)
        line = pawl_scope_format(scope, "%s%s%s", line, part == node->parts ? "(" : ", ", why_text(scope, part));
    return node->parts != NULL ? pawl_scope_format(scope, "%s)", line) : line;
}

#endif
