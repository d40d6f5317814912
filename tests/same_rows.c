/* same_rows.c - see same_rows.h. */
#include "same_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_texts(struct pw_text left, struct pw_text right)
{
    assert_int_equal(left.data == NULL, right.data == NULL);
    assert_true(pw_text_equal(left, right));
}

static void assert_same_link(const struct pw_link *left, const struct pw_link *right)
{
    assert_int_equal(left->parent == 0, right->parent == 0);
    assert_int_equal(left->run, right->run);
    assert_int_equal(left->relation, right->relation);
}

void assert_same_claim(const struct pw_claim *left, const struct pw_claim *right)
{
    assert_int_equal(left->fence.run, right->fence.run);
    assert_int_equal(left->fence.epoch, right->fence.epoch);
    assert_texts(left->workflow, right->workflow);
    assert_texts(left->id, right->id);
    assert_int_equal(left->kind, right->kind);
    assert_int_equal(left->demand, right->demand);
    assert_int_equal(left->event_seq, right->event_seq);
    assert_int_equal(left->is_first, right->is_first);
    assert_int_equal(left->taken_over, right->taken_over);
    assert_int_equal(left->has_instance, right->has_instance);
    assert_texts(left->params, right->params);
    assert_int_equal(left->updated_at_ms, right->updated_at_ms);
    assert_int_equal(left->created_at_ms, right->created_at_ms);
    if (left->has_instance)
        assert_same_link(&left->link, &right->link);
}

void assert_same_instance(const struct pw_instance *left, const struct pw_instance *right)
{
    assert_texts(left->workflow, right->workflow);
    assert_texts(left->id, right->id);
    assert_int_equal(left->run, right->run);
    assert_int_equal(left->outcome, right->outcome);
    assert_texts(left->params, right->params);
    assert_texts(left->output, right->output);
    assert_texts(left->error_name, right->error_name);
    assert_texts(left->error_message, right->error_message);
    assert_int_equal(left->created_at_ms, right->created_at_ms);
    assert_int_equal(left->updated_at_ms, right->updated_at_ms);
    assert_int_equal(left->started_at_ms, right->started_at_ms);
    assert_int_equal(left->completed_at_ms, right->completed_at_ms);
    assert_same_link(&left->link, &right->link);
    assert_int_equal(left->has_task, right->has_task);
    assert_int_equal(left->task.epoch, right->task.epoch);
    assert_int_equal(left->task.status, right->task.status);
    assert_int_equal(left->task.kind, right->task.kind);
    assert_int_equal(left->task.due_at_ms, right->task.due_at_ms);
    assert_int_equal(left->task.processing, right->task.processing);
    assert_int_equal(left->task.owner, right->task.owner);
    assert_int_equal(left->task.locked_until_ms, right->task.locked_until_ms);
    assert_int_equal(left->task.pause_requested, right->task.pause_requested);
    assert_int_equal(left->task.demand, right->task.demand);
    assert_int_equal(left->task.started_at_ms, right->task.started_at_ms);
    assert_int_equal(left->task.updated_at_ms, right->task.updated_at_ms);
    assert_int_equal(left->task.event_seq, right->task.event_seq);
}

void assert_same_step_row(const struct pw_step_row *left, const struct pw_step_row *right)
{
    assert_int_equal(left->seq, right->seq);
    assert_texts(left->name, right->name);
    assert_texts(left->description, right->description);
    assert_int_equal(left->kind, right->kind);
    assert_int_equal(left->status, right->status);
    assert_int_equal(left->attempts, right->attempts);
    assert_int_equal(left->attempts_max, right->attempts_max);
    assert_int_equal(left->timeout_ms, right->timeout_ms);
    assert_int_equal(left->next_retry_at_ms, right->next_retry_at_ms);
    assert_int_equal(left->wake_at_ms, right->wake_at_ms);
    assert_int_equal(left->event_at_ms, right->event_at_ms);
    assert_texts(left->wait_event_type, right->wait_event_type);
    assert_texts(left->result, right->result);
    assert_texts(left->error_name, right->error_name);
    assert_texts(left->error_message, right->error_message);
    assert_int_equal(left->created_at_ms, right->created_at_ms);
    assert_int_equal(left->updated_at_ms, right->updated_at_ms);
}

void assert_same_event(const struct pw_event_row *left, const struct pw_event_row *right)
{
    assert_int_equal(left->seq, right->seq);
    assert_texts(left->id, right->id);
    assert_texts(left->type, right->type);
    assert_texts(left->payload, right->payload);
    assert_int_equal(left->created_at_ms, right->created_at_ms);
    assert_int_equal(left->delivered_at_ms, right->delivered_at_ms);
    assert_texts(left->consumed_by, right->consumed_by);
}

void assert_same_log(const struct pw_log_row *left, const struct pw_log_row *right)
{
    assert_int_equal(left->seq, right->seq);
    assert_texts(left->step, right->step);
    assert_int_equal(left->attempt, right->attempt);
    assert_int_equal(left->level, right->level);
    assert_texts(left->category, right->category);
    assert_texts(left->message, right->message);
    assert_texts(left->data, right->data);
    assert_int_equal(left->is_replay, right->is_replay);
    assert_int_equal(left->created_at_ms, right->created_at_ms);
}

void assert_same_hook(const struct pw_hook_row *left, const struct pw_hook_row *right)
{
    assert_texts(left->id, right->id);
    assert_texts(left->hook, right->hook);
    assert_int_equal(left->event, right->event);
    assert_int_equal(left->reason, right->reason);
    assert_int_equal(left->due_at_ms, right->due_at_ms);
    assert_int_equal(left->outcome, right->outcome);
    assert_texts(left->error_name, right->error_name);
    assert_texts(left->error_message, right->error_message);
    assert_texts(left->workflow, right->workflow);
    assert_texts(left->instance_id, right->instance_id);
    assert_int_equal(left->run, right->run);
    assert_int_equal(left->created_at_ms, right->created_at_ms);
    assert_int_equal(left->attempts, right->attempts);
    assert_int_equal(left->attempts_max, right->attempts_max);
    assert_int_equal(left->next_at_ms, right->next_at_ms);
    assert_int_equal(left->locked_until_ms, right->locked_until_ms);
    assert_int_equal(left->epoch, right->epoch);
    assert_texts(left->last_error, right->last_error);
}
