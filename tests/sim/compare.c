/* compare.c - see compare.h. */
#include "compare.h"

#include "fail.h"
#include "world.h"

#define EXPECT(holds, ...) SIM_CHECK(SIM_RULE_STORED, holds, __VA_ARGS__)

static bool is_text(struct pw_text text, const char *expected)
{
    return pw_text_equal(text, pw_text_of(expected));
}

/* Rule 49 by the rows alone: none is older than the one before it in its run. */
static void check_order(struct sim_place *last, const char *kind, const struct sim_place *place)
{
    bool is_same = place->instance == last->instance && place->run == last->run;
    SIM_CHECK(SIM_RULE_TIME, !is_same || place->created_at_ms >= last->created_at_ms,
              "%s %lld of instance %lld is older than the one before it", kind, (long long)place->seq,
              (long long)place->instance);
    *last = *place;
}

/* ---- Instances and tasks -------------------------------------------------------------------------------------------------- */

static void check_times(const struct pw_instance *row)
{
    SIM_CHECK(SIM_RULE_TIME,
              row->updated_at_ms >= row->created_at_ms &&
                  (row->completed_at_ms == 0 || row->completed_at_ms >= row->started_at_ms) &&
                  (row->started_at_ms == 0 || row->started_at_ms >= row->created_at_ms),
              "times of instance %lld go back", (long long)row->key);
}

void sim_compare_instance(struct sim_comparison *comparison, const struct pw_instance *row)
{
    EXPECT(comparison->instances < comparison->model->instance_count, "an instance that nobody created");
    const struct sim_instance *instance = &comparison->model->instances[comparison->instances++];
    EXPECT(row->key == instance->key && is_text(row->workflow, instance->workflow) && is_text(row->id, instance->id),
           "instance %d is not %s", comparison->instances, instance->id);
    EXPECT(row->run == instance->run && row->outcome == instance->outcome, "run or outcome of %s is not %lld, %d",
           instance->id, (long long)instance->run, (int)instance->outcome);
    EXPECT(is_text(row->params, instance->params) && is_text(row->output, instance->output) &&
               is_text(row->error_name, instance->error_name) && is_text(row->error_message, instance->error_message),
           "params, output or error of %s", instance->id);
    EXPECT(row->created_at_ms == instance->created_at_ms && row->updated_at_ms == instance->updated_at_ms &&
               row->completed_at_ms == instance->completed_at_ms,
           "times of %s", instance->id);
    EXPECT(row->outcome == PW_OUTCOME_OPEN || row->started_at_ms == instance->started_at_ms, "when %s was started",
           instance->id);
    EXPECT(row->link.parent == instance->link.parent && row->link.run == instance->link.run &&
               row->link.relation == instance->link.relation,
           "the parent of %s", instance->id);
    check_times(row);
}

void sim_compare_task(struct sim_comparison *comparison, int64_t key, int64_t run, int shard, const struct pw_task *row)
{
    const struct sim_instance *instance = sim_model_by_key(comparison->model, key);
    SIM_CHECK(SIM_RULE_TASK, instance != NULL && instance->task.exists, "%s has finished and has a task",
              instance != NULL ? instance->id : "nobody");
    const struct sim_task *task = &instance->task;
    EXPECT(run == instance->run, "the task of %s is of another run", instance->id);
    SIM_CHECK(SIM_RULE_EPOCH, row->epoch == task->epoch, "the epoch of %s is not %lld", instance->id,
              (long long)task->epoch);
    EXPECT(row->status == task->status && row->kind == task->kind && row->due_at_ms == task->due_at_ms,
           "%s is not parked as status %d, kind %d, due %lld", instance->id, (int)task->status, (int)task->kind,
           (long long)task->due_at_ms);
    EXPECT(row->processing == task->processing && row->owner == task->owner &&
               row->locked_until_ms == task->locked_until_ms && row->pause_requested == task->pause_requested,
           "the lease of %s", instance->id);
    EXPECT(row->started_at_ms == task->started_at_ms && row->updated_at_ms == task->updated_at_ms &&
               row->event_seq == task->event_seq,
           "times or number of events of %s", instance->id);
    EXPECT(shard == pw_shard_of(pw_text_of(instance->workflow), pw_text_of(instance->id)), "the shard of %s",
           instance->id);
    SIM_CHECK(SIM_RULE_DEMAND, row->demand == task->demand, "the demand of %s is not %d", instance->id,
              (int)task->demand);
    comparison->tasks++;
}

void sim_compare_earlier_run(struct sim_comparison *comparison, int64_t key, const struct pw_earlier_run *row)
{
    struct sim_instance *instance = sim_model_by_key(comparison->model, key);
    EXPECT(instance != NULL && row->run >= 1 && row->run < instance->run, "run %lld of instance %lld was not replaced",
           (long long)row->run, (long long)key);
    const struct sim_earlier *earlier = &sim_model_run(instance, row->run)->earlier;
    EXPECT(row->outcome == earlier->outcome && is_text(row->output, earlier->output) &&
               is_text(row->error_name, earlier->error_name) && is_text(row->error_message, earlier->error_message),
           "the outcome of %s, run %lld", instance->id, (long long)row->run);
    EXPECT(row->started_at_ms == earlier->started_at_ms && row->completed_at_ms == earlier->completed_at_ms &&
               row->replaced_at_ms == earlier->replaced_at_ms,
           "the times of %s, run %lld", instance->id, (long long)row->run);
    comparison->earlier_runs++;
}

/* ---- Histories --------------------------------------------------------------------------------------------------------------- */

void sim_compare_step(struct sim_comparison *comparison, int64_t key, int64_t run, const struct pw_step_row *row)
{
    struct sim_instance *instance = sim_model_by_key(comparison->model, key);
    int node = sim_node_of(row->name);
    EXPECT(instance != NULL && run <= instance->run && node != SIM_NONE, "a step of nobody");
    const struct sim_step *step = &sim_model_run(instance, run)->steps[node];
    EXPECT(step->exists && row->seq == step->seq && row->kind == step->kind && row->status == step->status &&
               row->state == step->state,
           "n%d of %s, run %lld: number, kind, status or state", node, instance->id, (long long)run);
    EXPECT(row->attempts == step->attempts && row->attempts_max == step->attempts_max &&
               row->timeout_ms == step->timeout_ms && row->next_retry_at_ms == step->next_retry_at_ms &&
               row->wake_at_ms == step->wake_at_ms && row->event_at_ms == step->event_at_ms,
           "n%d of %s, run %lld: attempts or times", node, instance->id, (long long)run);
    EXPECT(is_text(row->wait_event_type, step->event_type) && is_text(row->result, step->result) &&
               is_text(row->error_name, step->error_name) &&
               sim_digest_text(0, row->error_message) == step->error_message,
           "n%d of %s, run %lld: result or error", node, instance->id, (long long)run);
    EXPECT(is_text(row->undoes, step->undoes) && is_text(row->awaited_workflow, step->awaited_workflow) &&
               is_text(row->awaited_id, step->awaited_id),
           "n%d of %s, run %lld: what it undoes or waits for", node, instance->id, (long long)run);
    EXPECT(is_text(row->place.fork, step->fork) && row->place.kind == step->fork_kind &&
               row->place.branch == step->branch && row->place.order == step->order &&
               sim_digest_text(0, row->place.outer) == step->outer,
           "n%d of %s, run %lld: where it stands", node, instance->id, (long long)run);
    EXPECT(row->created_at_ms == step->created_at_ms && row->updated_at_ms == step->updated_at_ms,
           "n%d of %s, run %lld: when it was recorded", node, instance->id, (long long)run);
    check_order(&comparison->step, "step", &(struct sim_place){ key, run, row->seq, row->created_at_ms });
    SIM_CHECK(SIM_RULE_TIME, row->updated_at_ms >= row->created_at_ms, "step %lld of %s was changed before it was made",
              (long long)row->seq, instance->id);
    comparison->steps++;
}

void sim_compare_event(struct sim_comparison *comparison, int64_t key, int64_t run, const struct pw_event_row *row)
{
    struct sim_instance *instance = sim_model_by_key(comparison->model, key);
    EXPECT(instance != NULL && run <= instance->run && row->seq >= 1 &&
               row->seq <= sim_model_run(instance, run)->event_count,
           "an event that nobody sent");
    const struct sim_event *event = &sim_model_run(instance, run)->events[row->seq - 1];
    EXPECT(is_text(row->id, event->id) && is_text(row->type, event->type) && is_text(row->payload, event->payload) &&
               row->is_failure == event->is_failure && row->created_at_ms == event->created_at_ms,
           "event %lld of %s", (long long)row->seq, instance->id);
    EXPECT(row->delivered_at_ms == event->delivered_at_ms && sim_node_of(row->consumed_by) == event->consumed_by,
           "who took event %lld of %s", (long long)row->seq, instance->id);
    check_order(&comparison->event, "event", &(struct sim_place){ key, run, row->seq, row->created_at_ms });
    SIM_CHECK(SIM_RULE_TIME, row->delivered_at_ms == 0 || row->delivered_at_ms >= row->created_at_ms,
              "event %lld of %s was taken before it was sent", (long long)row->seq, instance->id);
    comparison->events++;
}

void sim_compare_log(struct sim_comparison *comparison, int64_t key, int64_t run, const struct pw_log_row *row)
{
    struct sim_instance *instance = sim_model_by_key(comparison->model, key);
    const struct sim_place *last = &comparison->log;
    bool is_same = key == last->instance && run == last->run;
    SIM_CHECK(SIM_RULE_LOGS, row->seq == (is_same ? last->seq + 1 : 1), "line %lld of instance %lld",
              (long long)row->seq, (long long)key);
    EXPECT(instance != NULL && run <= instance->run && row->seq <= sim_model_run(instance, run)->log_count,
           "a log line of nobody");
    EXPECT(sim_digest_log(row) == sim_model_run(instance, run)->logs[row->seq - 1], "log line %lld of %s: %.*s",
           (long long)row->seq, instance->id, (int)row->message.size, row->message.data);
    EXPECT(row->is_repair == pw_text_begins_with(row->message, "resumed after repair"), "log line %lld of %s: its mark",
           (long long)row->seq, instance->id);
    check_order(&comparison->log, "log line", &(struct sim_place){ key, run, row->seq, row->created_at_ms });
    comparison->logs++;
}

/* ---- Deliveries and the user's rows --------------------------------------------------------------------------------------------- */

/* Delivered ones are in the model only. */
static void skip_delivered(struct sim_comparison *comparison)
{
    const struct sim_model *model = comparison->model;
    while (comparison->delivery < model->delivery_count && !model->deliveries[comparison->delivery].exists)
        comparison->delivery++;
}

void sim_compare_delivery(struct sim_comparison *comparison, int64_t instance, const struct pw_hook_row *row)
{
    skip_delivered(comparison);
    EXPECT(comparison->delivery < comparison->model->delivery_count, "a delivery that nobody recorded");
    struct sim_delivery *delivery = &comparison->model->deliveries[comparison->delivery++];
    EXPECT((delivery->key == 0 || delivery->key == row->key) && is_text(row->id, delivery->id) &&
               is_text(row->hook, sim_hooks[delivery->hook].name) && row->event == delivery->event,
           "delivery %s is another one", delivery->id);
    delivery->key = row->key;
    EXPECT(row->reason == delivery->reason && row->outcome == delivery->outcome && instance == delivery->instance &&
               row->run == delivery->run && row->due_at_ms == delivery->due_at_ms &&
               is_text(row->error_name, delivery->error_name) && is_text(row->error_message, delivery->error_message) &&
               row->created_at_ms == delivery->created_at_ms,
           "what delivery %s tells", delivery->id);
    EXPECT(row->attempts == delivery->attempts && row->attempts_max == sim_hooks[delivery->hook].attempts_max &&
               row->next_at_ms == delivery->next_at_ms && row->locked_until_ms == delivery->locked_until_ms &&
               row->epoch == delivery->epoch && (row->last_error.data != NULL) == delivery->has_error,
           "the attempts of delivery %s", delivery->id);
}

static void compare_tag(struct pw_text tag, char (*tags)[SIM_TEXT_MAX], int position, int expected)
{
    EXPECT(position < expected && is_text(tag, tags[position]), "effect %d is not %s", position,
           position < expected ? tags[position] : "wanted");
}

void sim_compare_effect(struct sim_comparison *comparison, struct pw_text tag)
{
    struct sim_model *model = comparison->model;
    compare_tag(tag, model->effects, comparison->effects++, model->effect_count);
}

void sim_compare_unique(struct sim_comparison *comparison, struct pw_text tag)
{
    struct sim_model *model = comparison->model;
    compare_tag(tag, model->uniques, comparison->uniques++, model->unique_count);
}

/* ---- All --------------------------------------------------------------------------------------------------------------------- */

static void check_counts(struct sim_comparison *comparison)
{
    const struct sim_model *model = comparison->model;
    int tasks = 0, earlier_runs = 0, steps = 0, events = 0, logs = 0;
    for (int i = 0; i < model->instance_count; i++) {
        const struct sim_instance *instance = &model->instances[i];
        tasks += instance->task.exists;
        earlier_runs += (int)instance->run - 1;
        for (int64_t run = 0; run < instance->run; run++) {
            steps += instance->runs[run].step_count;
            events += instance->runs[run].event_rows;
            logs += instance->runs[run].log_count;
        }
    }
    EXPECT(comparison->instances == model->instance_count, "%d of %d instances are there", comparison->instances,
           model->instance_count);
    SIM_CHECK(SIM_RULE_TASK, comparison->tasks == tasks, "%d tasks of %d unfinished runs", comparison->tasks, tasks);
    EXPECT(comparison->earlier_runs == earlier_runs, "%d of %d earlier runs are there", comparison->earlier_runs,
           earlier_runs);
    EXPECT(comparison->steps == steps, "%d of %d steps are there", comparison->steps, steps);
    EXPECT(comparison->events == events, "%d of %d events are there", comparison->events, events);
    EXPECT(comparison->logs == logs, "%d of %d log lines are there", comparison->logs, logs);
    skip_delivered(comparison);
    EXPECT(comparison->delivery == model->delivery_count, "delivery %s is not there",
           model->deliveries[comparison->delivery].id);
    EXPECT(comparison->effects == model->effect_count && comparison->uniques == model->unique_count,
           "%d of %d effects and %d of %d unique ones are there", comparison->effects, model->effect_count,
           comparison->uniques, model->unique_count);
}

void sim_compare(struct sim_world *world)
{
    struct sim_comparison comparison = { .model = &world->model };
    if (world->in_memory)
        sim_memory_rows(world->memory, &comparison);
    else
        sim_sqlite_rows(world->db, &comparison);
    check_counts(&comparison);
}
