/* place.c - notes where in the workflow a step is first reached: in which branch of which fork, and after how many
 * other calls.  The row of the step stores it, so that a history can be drawn without the workflow's code. */
#include "turn/lanes.h"
#include "turn/recall.h"
#include "value/value.h"

/* Describes a branch as {"fork", "kind", "branch", "within"}; `inside` describes what its fork is within, or is
 * NULL. */
static pawl_status describe(pawl_scope *scope, const pawl_lane *lane, const pawl_value *inside, pawl_value **out_value)
{
    const struct pw_branching *of = lane->branching;
    const char *name = pawl_scope_format(scope, "%.*s", (int)of->name.size, of->name.data);
    if (name == NULL)
        return PAWL_NOMEM;
    return pawl_value_pack(scope, out_value, "{s:s, s:s, s:I, s:V}", "fork", name, "kind",
                           pawl_fork_kind_name(of->kind), "branch", (long long)lane->position, "within", inside);
}

/* Describes the branches around this one, from the outermost inwards. */
static pawl_status describe_outer(pawl_scope *scope, const pawl_lane *lane, pawl_value **out_value)
{
    const pawl_lane *last = &lane->turn->main;
    *out_value = NULL;
    while (last != lane->parent) {
        const pawl_lane *next = lane->parent;
        while (next->parent != last)
            next = next->parent;
        PAWL_TRY(describe(scope, next, *out_value, out_value));
        last = next;
    }
    return PAWL_OK;
}

/* Stores the description of the outer branches, once for each lane.  The outermost fork has none. */
static bool keep_outer(pawl_lane *lane)
{
    pawl_value *value = NULL;
    struct pw_text text = { NULL, 0 };
    if (lane->outer.data != NULL || lane->parent == &lane->turn->main)
        return true;
    pawl_scope *scope = pawl_scope_new();
    bool is_kept = scope != NULL && describe_outer(scope, lane, &value) == PAWL_OK &&
                   pawl_value_text(scope, value, &text.data, &text.size) == PAWL_OK &&
                   pw_arena_text(&lane->turn->history->arena, text, &lane->outer);
    pawl_scope_free(scope);
    return is_kept;
}

bool pw_place_note(pawl_lane *lane, struct pw_step *step)
{
    struct pw_branching *of = lane->branching;
    struct pw_step_place *place = &step->row.place;
    place->order = lane->calls + 1;
    if (of == NULL)
        return true;
    if (!of->is_kept && !pw_arena_text(&lane->turn->history->arena, of->name, &of->name))
        return false;
    of->is_kept = true;
    if (!keep_outer(lane))
        return false;
    place->fork = of->name;
    place->kind = of->kind;
    place->branch = (int64_t)lane->position;
    place->outer = lane->outer;
    return true;
}
