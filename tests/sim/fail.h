/* fail.h - the invariants, how a simulation ends when one of them does not hold, and the trace of what happened before. */
#ifndef SIM_FAIL_H
#define SIM_FAIL_H

#include <stdbool.h>

#include "pawl/status.h"

/* The invariants, numbered as in docs/invariants.md, which explains them; `sim --rules` prints this list. */
/* clang-format off */
#define SIM_RULES(RULE)                                                                                                \
    RULE(1, FINISHED_ROW, "the row of a finished step never changes")                                                  \
    RULE(2, FINISHED_BODY, "no turn that holds its run starts the body of a finished step")                            \
    RULE(3, ATTEMPTS, "recorded attempts grow one by one and never exceed attempts_max")                               \
    RULE(4, BODIES, "a step's body starts at most once for each recorded attempt and each lost turn of its run")       \
    RULE(5, ANSWER, "a workflow is told of a finished step what its row says")                                         \
    RULE(6, FENCE, "a unit is applied just when its checks hold, and a turn's only under the task's current holder")   \
    RULE(7, TASK, "an unfinished run has one task, a finished one has none")                                           \
    RULE(8, EPOCH, "within a run the epoch rises by one with every move of the task and never falls")                  \
    RULE(9, CLAIM, "a claim takes just what is due or expired, never what is paused, in the order of the contract")    \
    RULE(10, PAUSE, "once a boundary has told a turn of a pause it starts no body")                                    \
    RULE(11, OLD_RUN, "after a terminate or a restart nothing of the old run changes but the line that says so")       \
    RULE(12, EFFECT, "what a step registered for its success happens once, in the commit that completes it")           \
    RULE(13, EFFECT_ON_FAILURE, "what it registered for its failure happens once, in the commit that says for good")   \
    RULE(14, CONSUME, "an event is consumed at most once, by a wait of its type in its own run, which gets its payload")\
    RULE(15, EVENT_ORDER, "a wait takes the oldest event of its type that was sent no later than its wakeAt")          \
    RULE(16, SLEEP, "a sleep's wakeAt is set once, and it completes only at or after it")                              \
    RULE(17, RETRY, "nextRetryAt is what the policy says, and no body starts before it")                               \
    RULE(18, WAIT_TIMEOUT, "a wait times out only at or after its wakeAt, and only with no event there for it")        \
    RULE(19, ACKNOWLEDGED, "what a service call acknowledged is so when it returns")                                   \
    RULE(20, LIVENESS, "once faults stop and time goes on, every run that is not paused ends in a bounded number of turns")\
    RULE(21, OUTCOME, "a run ends with what a pure reading of its program over its rows says")                         \
    RULE(22, LOGS, "log lines are numbered from 1 without a gap, and a line of the workflow is new at most once")      \
    RULE(23, WINNER, "a race is won by a branch that has finished, and its winner never changes")                      \
    RULE(24, DURABLE_FIRST, "no body starts before everything its lane was told is durable")                           \
    RULE(25, SETTLED_FIRST, "a step whose commit may be refused is told only once it is durable")                      \
    RULE(26, RESULT, "a step's outcome is what a body returned at that attempt, in time")                              \
    RULE(27, DUE, "a waiting run is due no later than the first thing that it waits for")                              \
    RULE(28, STORED, "the database holds what the commits said, row for row")                                          \
    RULE(29, NO_SURPRISE, "no call fails without a cause, and no correct program is refused")                          \
    RULE(30, NEXT_WAKE, "a runner's next wake time is when the first task is due or the first lease expires")          \
    RULE(31, ABANDONED, "once a race is decided no step of its other branches is left waiting")                        \
    RULE(32, LOOK, "a look at an instance and its history shows what the rows say")                                    \
    RULE(33, TRANSITION, "instances, tasks and steps change only by the listed transitions")                           \
    RULE(34, RESPONSE, "a request is answered as the API says: never with 500, with 503 only after the store failed")  \
    RULE(35, RESULT_TOLD, "a result is the outcome that the run has, and whoever waits for it is told in time")        \
    RULE(36, STREAM, "a stream tells each log line once and in order, over reconnects, and ends with the final status")\
    RULE(37, RECORDED, "what a hook is to be told is recorded once, in the commit that causes it")                     \
    RULE(38, ATTEMPTED, "a delivery is tried when it is due, at most attempts_max times, and ends as its hook said")   \
    RULE(39, DELIVERED, "once faults stop and time goes on, every delivery is made or has failed for good")            \
    RULE(40, SHARE, "among others a runner claims what it owns when it is due, and what they own only after the grace")\
    RULE(41, ANSWERED, "a child or job that ends tells its parent in the same commit, and is told of once")            \
    RULE(42, JOB_RESULT, "a call ends with what its job did, and a job's worker speaks only under its lease, in time") \
    RULE(43, JOBS_END, "with a run end its jobs, and with an attempt the one that it made")                            \
    RULE(44, DEMAND, "a demand wins over an end that comes after it, and reaches the attached children of a run it ends")\
    RULE(45, UNDONE, "a run that failed or was interrupted ends when all it did was undone, the newest first")         \
    RULE(46, DEFERRED, "a deferred is completed once, by the first")                                                   \
    RULE(47, KEPT, "a repaired run keeps just the finished steps that it should")                                      \
    RULE(48, REPAIR, "a run waits for repair where work failed for good, and a resume puts back just that")            \
    RULE(49, TIME, "what is recorded of a run is in the order of its times, however clocks are set")                   \
    RULE(50, LEASED, "a body begins after its lease was taken only if its process was stopped after the last look at it")\
    RULE(51, STATE, "a step's columns say how it ended, which step it undoes, whose end it waits for, and where it stands")
/* clang-format on */

enum sim_rule {
#define SIM_RULE_CODE(number, code, text) SIM_RULE_##code = (number),
    SIM_RULES(SIM_RULE_CODE)
#undef SIM_RULE_CODE
};

const char *sim_rule_text(enum sim_rule rule);

enum { SIM_EXIT_RULE = 100, SIM_EXIT_LIMIT = 3 };

/* Which seed is on, and whether lines are kept.  Without tracing sim_trace() costs a test of a flag. */
void sim_fail_begin(unsigned long long seed, bool tracing, bool echo);

/* Exits with SIM_EXIT_RULE + its number; prints the rule, the seed and the last lines when tracing. */
_Noreturn void sim_fail(enum sim_rule rule, const char *format, ...) PAWL_PRINTF(2, 3);
/* The simulation itself is at its end: an array is too small, or memory is out. */
_Noreturn void sim_give_up(const char *format, ...) PAWL_PRINTF(1, 2);

void sim_trace(const char *format, ...) PAWL_PRINTF(1, 2);
/* Lines in between are indented by one more. */
void sim_trace_enter(void);
void sim_trace_leave(void);

#define SIM_CHECK(rule, holds, ...)                                                                                    \
    do {                                                                                                               \
        if (!(holds))                                                                                                  \
            sim_fail(rule, __VA_ARGS__);                                                                               \
    } while (0)

#endif
