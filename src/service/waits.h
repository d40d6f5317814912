/* waits.h - what an unfinished run waits for, as a tree of struct pawl_why_node.
 *
 * The tree is made only from columns of the run's steps: kind, state and place.  A leaf is a waiting step.  A group
 * is a fork with waiting steps in its branches.  The place of a step names the forks around it, innermost first. */
#ifndef PW_SERVICE_WAITS_H
#define PW_SERVICE_WAITS_H

#include "engine/engine.h"

struct pw_waits {
    struct pawl_step_record *steps; /* newest first */
    struct pawl_why_node *leaves;   /* one for each step, in the same order */
    size_t count;
    struct pawl_why_node *top; /* NULL: no wait is recorded */
};

/* Reads what the run of this row waits for, if it waits or is paused: the newest steps, at most `max`.  A paused run
 * has a node of its own on top.  Finds nothing for a run that is active or has ended.  The arena is for rows;
 * results live in the scope.  PAWL_NOMEM leaves the error as it is. */
pawl_status pw_waits_read(struct pw_store *store, pawl_scope *scope, struct pw_arena *arena,
                          const struct pw_instance *row, size_t max, struct pw_waits *out_waits,
                          struct pawl_error *error) PAWL_MUST_CHECK;

/* Makes records and leaves from rows.  PAWL_OK or PAWL_NOMEM. */
pawl_status pw_waits_show(pawl_scope *scope, int64_t run, const struct pw_step_row *rows, size_t count,
                          struct pw_waits *out_waits) PAWL_MUST_CHECK;

/* Hangs all leaves below the node, in the order of their records. */
void pw_waits_hang(struct pw_waits *waits, struct pawl_why_node *node);

/* Keeps the rows that pass, in their order.  Returns their number. */
size_t pw_waits_keep(struct pw_step_row *rows, size_t count, bool (*passes)(const struct pw_step_row *row));

/* The newest steps of the run in any state, newest first.  There may be fewer than `max` if results are large. */
pawl_status pw_waits_look_back(struct pw_store *store, struct pw_arena *arena, const struct pw_instance *row,
                               size_t max, struct pw_step_row **out_rows, size_t *out_count,
                               struct pawl_error *error) PAWL_MUST_CHECK;

#endif
