/* transitions.h - every change of state that instances, tasks and steps can make, by name and with its reason.
 *
 * A transition is: what changes, from which state, to which, and by what.  The simulation looks at the states before and
 * after every unit of work and counts each transition; one that is not in the list breaks invariant 33, and one that
 * 2,000 seeds do not reach fails the run; of those that are marked as seldom, 20,000.
 *
 * Instances have the status that people see.  A task is pending (queued: due now or soon; waiting: until something is
 * due), paused, or processing (held by a runner; pausing: held, and a pause is asked for); of a finished run it is absent.
 * Each kind of step has its own transitions; the row of a race is written only when it is decided. */
#ifndef SIM_TRANSITIONS_H
#define SIM_TRANSITIONS_H

#include <stdbool.h>
#include <stdint.h>

struct pw_op_step;
struct pw_unit;
struct sim_model;

/* clang-format off */
#define SIM_MACHINES(MACHINE)                                                                                          \
    MACHINE(INSTANCE, "instance") MACHINE(TASK, "task")                                                                \
    MACHINE(DO, "do") MACHINE(SLEEP, "sleep") MACHINE(WAIT, "wait") MACHINE(FIRST, "first")                            \
    MACHINE(JOB, "job") MACHINE(CALL, "call") MACHINE(AWAIT, "await") MACHINE(DEFERRED, "deferred")

/* ABSENT is the first: what is not there yet. */
#define SIM_STATES(STATE)                                                                                              \
    STATE(ABSENT, "absent") STATE(ACTIVE, "active") STATE(WAITING, "waiting") STATE(PAUSED, "paused")                  \
    STATE(COMPLETE, "complete") STATE(ERRORED, "errored") STATE(TERMINATED, "terminated")                              \
    STATE(QUEUED, "queued") STATE(HELD, "held") STATE(PAUSING, "pausing") STATE(COMPLETED, "completed")

#define SIM_CAUSES(CAUSE)                                                                                              \
    CAUSE(CREATE, "create") CAUSE(CHILD, "create by a step") CAUSE(RESTART, "restart") CAUSE(TERMINATE, "terminate")   \
    CAUSE(PAUSE, "pause") CAUSE(RESUME, "resume") CAUSE(EVENT, "event") CAUSE(STEP_EVENT, "event by a step")           \
    CAUSE(CLAIM_RUN, "claim: run") CAUSE(CLAIM_WAKE, "claim: wake") CAUSE(CLAIM_RETRY, "claim: retry")                 \
    CAUSE(CLAIM_RESUME, "claim: resume") CAUSE(CLAIM_EXPIRED, "claim: lease expired")                                  \
    CAUSE(TURN_WAITS, "turn: waits") CAUSE(TURN_RETRIES, "turn: retries") CAUSE(TURN_STOPS, "turn: cut short")         \
    CAUSE(TURN_TROUBLE, "turn: trouble") CAUSE(TURN_PAUSES, "turn: pauses")                                            \
    CAUSE(TURN_UNPAUSED, "turn: pause withdrawn") CAUSE(TURN_ENDS, "turn: ends") CAUSE(RELEASE, "turn: lost")          \
    CAUSE(BEGINS, "begins") CAUSE(SUCCEEDS, "succeeds") CAUSE(FAILS, "fails") CAUSE(TIMES_OUT, "times out")            \
    CAUSE(REFUSED, "its changes are refused") CAUSE(ABANDONED, "abandoned") CAUSE(OVER, "is over")                     \
    CAUSE(TAKES, "takes an event") CAUSE(CHANGES, "changes its type") CAUSE(WON, "is won")                             \
    CAUSE(ANSWER, "answer") CAUSE(DEMAND, "demand") CAUSE(REACH, "parent ends") CAUSE(END, "end")                      \
    CAUSE(TURN_DEMANDED, "turn: ends on demand") CAUSE(TURN_REPAIR, "turn: waits for repair")                          \
    CAUSE(REPAIR, "resume after repair") CAUSE(RESTART_FROM, "restart from a step")

/* machine, from, to, cause, reason */
#define SIM_TRANSITIONS(MOVE)                                                                                          \
    MOVE(INSTANCE, ABSENT, ACTIVE, CREATE, "a client creates it, alone or in a batch")                                 \
    MOVE(INSTANCE, ABSENT, ACTIVE, CHILD, "a step registered its creation, and completed")                             \
    MOVE(INSTANCE, ACTIVE, WAITING, TURN_WAITS, "its turn ends at a sleep or a wait")                                  \
    MOVE(INSTANCE, ACTIVE, WAITING, TURN_RETRIES, "its turn ends at a step that is to be tried again")                 \
    MOVE(INSTANCE, WAITING, ACTIVE, CLAIM_WAKE, "its sleep or its wait is over")                                       \
    MOVE(INSTANCE, WAITING, ACTIVE, CLAIM_RETRY, "the retry is due")                                                   \
    MOVE(INSTANCE, WAITING, ACTIVE, EVENT, "a client sends what it waits for")                                         \
    MOVE(INSTANCE, WAITING, ACTIVE, STEP_EVENT, "another run's step sends what it waits for")                          \
    MOVE(INSTANCE, ACTIVE, PAUSED, PAUSE, "nobody holds it: at once")                                                  \
    MOVE(INSTANCE, ACTIVE, PAUSED, TURN_PAUSES, "its turn was told of the pause, and stops at the boundary")           \
    MOVE(INSTANCE, ACTIVE, PAUSED, CLAIM_EXPIRED, "its holder died before it heard of the pause")                      \
    MOVE(INSTANCE, ACTIVE, PAUSED, RELEASE, "its turn was lost after the pause was asked for")                         \
    MOVE(INSTANCE, WAITING, PAUSED, PAUSE, "nobody holds it: at once, and its timers go on")                           \
    MOVE(INSTANCE, PAUSED, ACTIVE, RESUME, "it looks by itself what is due by now")                                    \
    MOVE(INSTANCE, ACTIVE, COMPLETE, TURN_ENDS, "the workflow returned")                                               \
    MOVE(INSTANCE, ACTIVE, ERRORED, TURN_ENDS, "the workflow failed")                                                  \
    MOVE(INSTANCE, ACTIVE, TERMINATED, TERMINATE, "from any state that is not an end")                                 \
    MOVE(INSTANCE, WAITING, TERMINATED, TERMINATE, "from any state that is not an end")                                \
    MOVE(INSTANCE, PAUSED, TERMINATED, TERMINATE, "from any state that is not an end")                                 \
    MOVE(INSTANCE, ACTIVE, ACTIVE, RESTART, "from any state: a new run")                                               \
    MOVE(INSTANCE, WAITING, ACTIVE, RESTART, "from any state: a new run")                                              \
    MOVE(INSTANCE, PAUSED, ACTIVE, RESTART, "from any state: a new run")                                               \
    MOVE(INSTANCE, COMPLETE, ACTIVE, RESTART, "from any state: a new run")                                             \
    MOVE(INSTANCE, ERRORED, ACTIVE, RESTART, "from any state: a new run")                                              \
    MOVE(INSTANCE, TERMINATED, ACTIVE, RESTART, "from any state: a new run")                                           \
                                                                                                                       \
    MOVE(TASK, ABSENT, QUEUED, CREATE, "for any runner")                                                               \
    MOVE(TASK, ABSENT, HELD, CREATE, "handed to the local runner as it is made")                                       \
    MOVE(TASK, ABSENT, QUEUED, CHILD, "a step's unit hands nothing over")                                              \
    MOVE(TASK, QUEUED, HELD, CLAIM_RUN, "a first run")                                                                 \
    MOVE(TASK, QUEUED, HELD, CLAIM_WAKE, "an event woke it")                                                           \
    MOVE(TASK, QUEUED, HELD, CLAIM_RETRY, "the watchdog gave up on bodies beside other branches")                      \
    MOVE(TASK, QUEUED, HELD, CLAIM_RESUME, "resumed, or a turn that did not come to its end")                          \
    MOVE(TASK, WAITING, HELD, CLAIM_WAKE, "a sleep or a wait is over")                                                 \
    MOVE(TASK, WAITING, HELD, CLAIM_RETRY, "a retry is due")                                                           \
    MOVE(TASK, HELD, HELD, CLAIM_EXPIRED, "its holder is dead or late: another one goes on")                           \
    MOVE(TASK, PAUSING, PAUSED, CLAIM_EXPIRED, "its holder is dead or late: nobody goes on")                           \
    MOVE(TASK, HELD, WAITING, TURN_WAITS, "until the earliest of its sleeps and waits")                                \
    MOVE(TASK, HELD, WAITING, TURN_RETRIES, "until the retry, which is the earliest")                                  \
    MOVE(TASK, HELD, QUEUED, TURN_RETRIES, "the watchdog closed the turn; other branches may go on at once")           \
    MOVE(TASK, HELD, QUEUED, TURN_STOPS, "the runner stops, or its budget is used up")                                 \
    MOVE(TASK, HELD, QUEUED, TURN_TROUBLE, "it could not read, or its code gave up: a little later")                   \
    MOVE(TASK, HELD, QUEUED, TURN_UNPAUSED, "resumed while the turn was on its way to pause")                          \
    MOVE(TASK, PAUSING, PAUSED, TURN_PAUSES, "at the boundary")                                                        \
    MOVE(TASK, HELD, ABSENT, TURN_ENDS, "the run has finished")                                                        \
    MOVE(TASK, HELD, QUEUED, RELEASE, "a turn that the store failed gives its lease back")                             \
    MOVE(TASK, PAUSING, PAUSED, RELEASE, "a turn that the store failed gives its lease back")                          \
    MOVE(TASK, WAITING, QUEUED, EVENT, "what it waits for is there")                                                   \
    MOVE(TASK, WAITING, HELD, EVENT, "handed to the local runner with the event")                                      \
    MOVE(TASK, WAITING, QUEUED, STEP_EVENT, "a step's unit hands nothing over")                                        \
    MOVE(TASK, QUEUED, PAUSED, PAUSE, "at once")                                                                       \
    MOVE(TASK, WAITING, PAUSED, PAUSE, "at once; it stays due when it was")                                            \
    MOVE(TASK, HELD, PAUSING, PAUSE, "its turn is to stop at the next boundary")                                       \
    MOVE(TASK, HELD, PAUSED, PAUSE, "its lease has expired: nobody is there to stop")                                  \
    MOVE(TASK, PAUSING, PAUSED, PAUSE, "asked again, and its lease has expired by now")                                \
    MOVE(TASK, PAUSED, QUEUED, RESUME, "for any runner")                                                               \
    MOVE(TASK, PAUSED, HELD, RESUME, "handed to the local runner")                                                     \
    MOVE(TASK, PAUSING, HELD, RESUME, "the pause is withdrawn before it was reached")                                  \
    MOVE(TASK, QUEUED, ABSENT, TERMINATE, "the run is over")                                                           \
    MOVE(TASK, WAITING, ABSENT, TERMINATE, "the run is over")                                                          \
    MOVE(TASK, PAUSED, ABSENT, TERMINATE, "the run is over")                                                           \
    MOVE(TASK, HELD, ABSENT, TERMINATE, "its turn can commit nothing more")                                            \
    MOVE(TASK, PAUSING, ABSENT, TERMINATE, "its turn can commit nothing more")                                         \
    MOVE(TASK, ABSENT, QUEUED, RESTART, "the last run had finished")                                                   \
    MOVE(TASK, QUEUED, QUEUED, RESTART, "the new run's task takes its place")                                          \
    MOVE(TASK, WAITING, QUEUED, RESTART, "the new run's task takes its place")                                         \
    MOVE(TASK, PAUSED, QUEUED, RESTART, "the new run's task takes its place")                                          \
    MOVE(TASK, HELD, QUEUED, RESTART, "the old run's turn can commit nothing more")                                    \
    MOVE(TASK, PAUSING, QUEUED, RESTART, "the old run's turn can commit nothing more")                                 \
    MOVE(TASK, ABSENT, HELD, RESTART, "handed to the local runner")                                                    \
    MOVE(TASK, QUEUED, HELD, RESTART, "handed to the local runner")                                                    \
    MOVE(TASK, WAITING, HELD, RESTART, "handed to the local runner")                                                   \
    MOVE(TASK, PAUSED, HELD, RESTART, "handed to the local runner")                                                    \
    MOVE(TASK, HELD, HELD, RESTART, "handed to the local runner, whose turn of the old run is revoked")                \
    MOVE(TASK, PAUSING, HELD, RESTART, "handed to the local runner; the new run is not asked to pause")                \
                                                                                                                       \
    MOVE(DO, ABSENT, COMPLETED, SUCCEEDS, "at its first attempt")                                                      \
    MOVE(DO, ABSENT, WAITING, FAILS, "the first attempt failed; another follows")                                      \
    MOVE(DO, ABSENT, WAITING, TIMES_OUT, "the first attempt was late; another follows")                                \
    MOVE(DO, ABSENT, WAITING, REFUSED, "what it registered failed; another attempt follows")                           \
    MOVE(DO, ABSENT, ERRORED, FAILS, "for good, or it had one attempt")                                                \
    MOVE(DO, ABSENT, ERRORED, TIMES_OUT, "it had one attempt")                                                         \
    MOVE(DO, ABSENT, ERRORED, REFUSED, "a unique value that is taken, a target that is gone, or it had one attempt")   \
    MOVE(DO, ABSENT, ERRORED, ABANDONED, "what it registered was refused, and its branch had lost a race by then")     \
    MOVE(DO, ABSENT, WAITING, BEGINS, "it undoes another, as the first one of a run that failed")                      \
    MOVE(DO, WAITING, COMPLETED, SUCCEEDS, "at a later attempt")                                                       \
    MOVE(DO, WAITING, WAITING, FAILS, "a later attempt failed; another follows")                                       \
    MOVE(DO, WAITING, WAITING, TIMES_OUT, "a later attempt was late; another follows")                                 \
    MOVE(DO, WAITING, WAITING, REFUSED, "what it registered failed again; another attempt follows")                    \
    MOVE(DO, WAITING, ERRORED, FAILS, "for good, or it was the last attempt")                                          \
    MOVE(DO, WAITING, ERRORED, TIMES_OUT, "it was the last attempt")                                                   \
    MOVE(DO, WAITING, ERRORED, REFUSED, "for good, or it was the last attempt")                                        \
    MOVE(DO, WAITING, ERRORED, ABANDONED, "its branch lost a race before the retry")                                   \
    MOVE(SLEEP, ABSENT, WAITING, BEGINS, "until its wakeAt")                                                           \
    MOVE(SLEEP, ABSENT, COMPLETED, OVER, "of no length, or until a moment in the past")                                \
    MOVE(SLEEP, WAITING, COMPLETED, OVER, "at or after its wakeAt")                                                    \
    MOVE(SLEEP, WAITING, ERRORED, ABANDONED, "its branch lost a race")                                                 \
    MOVE(WAIT, ABSENT, WAITING, BEGINS, "nothing is there yet")                                                        \
    MOVE(WAIT, ABSENT, COMPLETED, TAKES, "what it waits for is there already")                                         \
    MOVE(WAIT, WAITING, WAITING, CHANGES, "the code has changed: it waits for another type now")                       \
    MOVE(WAIT, WAITING, COMPLETED, TAKES, "what it waits for came")                                                    \
    MOVE(WAIT, WAITING, ERRORED, TIMES_OUT, "nothing came until its wakeAt")                                           \
    MOVE(WAIT, WAITING, ERRORED, ABANDONED, "its branch lost a race")                                                  \
    MOVE(FIRST, ABSENT, COMPLETED, WON, "a branch has finished")                                                       \
    MOVE(INSTANCE, WAITING, ACTIVE, ANSWER, "what it waits for has ended, or any of its children or jobs")             \
    MOVE(INSTANCE, WAITING, ACTIVE, DEMAND, "it is interrupted, or rolled back")                                       \
    MOVE(INSTANCE, PAUSED, ACTIVE, DEMAND, "it is interrupted, or rolled back: that lifts the pause")                  \
    MOVE(INSTANCE, WAITING, ACTIVE, REACH, "its parent was cut off")                                                   \
    MOVE(INSTANCE, PAUSED, ACTIVE, REACH, "its parent was cut off")                                                    \
    MOVE(INSTANCE, ACTIVE, TERMINATED, TURN_DEMANDED, "it has undone what it did, or its parent was terminated")       \
    MOVE(TASK, WAITING, QUEUED, ANSWER, "the process that ends a child or a job has no room for its parent")           \
    MOVE(TASK, WAITING, HELD, ANSWER, "it has room, and takes the parent at once")                                     \
    MOVE(TASK, QUEUED, QUEUED, DEMAND, "it is interrupted before anybody took it up")                                  \
    MOVE(TASK, QUEUED, HELD, DEMAND, "handed to the local runner")                                                     \
    MOVE(TASK, WAITING, QUEUED, DEMAND, "it has something to do now")                                                  \
    MOVE(TASK, WAITING, HELD, DEMAND, "handed to the local runner")                                                    \
    MOVE(TASK, PAUSED, QUEUED, DEMAND, "the pause is lifted")                                                          \
    MOVE(TASK, PAUSED, HELD, DEMAND, "the pause is lifted, and it is handed to the local runner")                      \
    MOVE(TASK, HELD, QUEUED, DEMAND, "its lease has expired")                                                          \
    MOVE(TASK, HELD, HELD, DEMAND, "seldom: its lease has expired: handed to the local runner")                        \
    MOVE(TASK, PAUSING, HELD, DEMAND, "the pause is lifted before it was reached")                                     \
    MOVE(TASK, PAUSING, QUEUED, DEMAND, "seldom: the pause is lifted, and its lease has expired")                      \
    MOVE(TASK, QUEUED, QUEUED, REACH, "its parent was cut off")                                                        \
    MOVE(TASK, WAITING, QUEUED, REACH, "its parent was cut off")                                                       \
    MOVE(TASK, PAUSED, QUEUED, REACH, "its parent was cut off: that lifts the pause")                                  \
    MOVE(TASK, HELD, QUEUED, REACH, "seldom: its lease has expired")                                                   \
    MOVE(TASK, PAUSING, HELD, REACH, "seldom: the pause is lifted before it was reached")                              \
    MOVE(TASK, PAUSING, QUEUED, REACH, "seldom: its lease has expired")                                                \
    MOVE(TASK, HELD, ABSENT, TURN_DEMANDED, "it ends as it was asked to")                                              \
    MOVE(TASK, PAUSING, ABSENT, TURN_DEMANDED, "seldom: a termination does not wait for a pause")                      \
    MOVE(JOB, ABSENT, QUEUED, CHILD, "for any runner or worker that has the function")                                 \
    MOVE(JOB, QUEUED, HELD, CLAIM_RUN, "a runner or a worker takes it")                                                \
    MOVE(JOB, QUEUED, HELD, CLAIM_RETRY, "seldom: the watchdog gave up on its body, and it is to say so")              \
    MOVE(JOB, QUEUED, HELD, CLAIM_RESUME, "seldom: a turn that did not come to its end")                               \
    MOVE(JOB, HELD, HELD, CLAIM_EXPIRED, "its worker is dead or late: another one takes it")                           \
    MOVE(JOB, HELD, ABSENT, TURN_ENDS, "somebody did it, or could not")                                                \
    MOVE(JOB, HELD, ABSENT, END, "the attempt that made it was late")                                                  \
    MOVE(JOB, QUEUED, ABSENT, END, "its call lost a race")                                                             \
    MOVE(JOB, HELD, ABSENT, REACH, "its run has ended")                                                                \
    MOVE(JOB, QUEUED, ABSENT, REACH, "its run has ended")                                                              \
    MOVE(JOB, HELD, QUEUED, TURN_STOPS, "seldom: the runner stops, or its budget is used up")                          \
    MOVE(JOB, HELD, QUEUED, TURN_RETRIES, "the watchdog closed the turn")                                              \
    MOVE(JOB, HELD, QUEUED, TURN_TROUBLE, "seldom: its code gave up")                                                  \
    MOVE(JOB, HELD, QUEUED, RELEASE, "seldom: a turn that the store failed gives its lease back")                      \
    MOVE(CALL, ABSENT, WAITING, BEGINS, "a job is made")                                                               \
    MOVE(CALL, WAITING, WAITING, CHANGES, "another job is made, or this one may take longer")                          \
    MOVE(CALL, WAITING, WAITING, FAILS, "its job failed; another follows")                                             \
    MOVE(CALL, WAITING, WAITING, TIMES_OUT, "its job was late; another follows")                                       \
    MOVE(CALL, WAITING, COMPLETED, SUCCEEDS, "its job was done")                                                       \
    MOVE(CALL, WAITING, ERRORED, FAILS, "for good, or it was the last attempt")                                        \
    MOVE(CALL, WAITING, ERRORED, TIMES_OUT, "it was the last attempt")                                                 \
    MOVE(CALL, WAITING, ERRORED, ABANDONED, "its branch lost a race")                                                  \
    MOVE(CALL, WAITING, ERRORED, DEMAND, "the run is interrupted: its job is given up")                                \
    MOVE(AWAIT, ABSENT, WAITING, BEGINS, "the child has not ended")                                                    \
    MOVE(AWAIT, ABSENT, COMPLETED, SUCCEEDS, "seldom: the child ended before")                                         \
    MOVE(AWAIT, ABSENT, ERRORED, FAILS, "seldom: the child failed before")                                             \
    MOVE(AWAIT, WAITING, WAITING, CHANGES, "seldom: a year has passed, or it was put back")                            \
    MOVE(AWAIT, WAITING, COMPLETED, SUCCEEDS, "the child has ended")                                                   \
    MOVE(AWAIT, WAITING, ERRORED, FAILS, "the child failed, or was terminated")                                        \
    MOVE(AWAIT, WAITING, ERRORED, ABANDONED, "its branch lost a race")                                                 \
    MOVE(DEFERRED, ABSENT, WAITING, BEGINS, "its token is made")                                                       \
    MOVE(DEFERRED, WAITING, WAITING, CHANGES, "the run waits for it from now on")                                      \
    MOVE(DEFERRED, WAITING, COMPLETED, SUCCEEDS, "somebody completed it")                                              \
    MOVE(DEFERRED, WAITING, ERRORED, FAILS, "somebody failed it")                                                      \
    MOVE(DEFERRED, WAITING, ERRORED, TIMES_OUT, "nobody completed it in time")                                         \
    MOVE(DEFERRED, WAITING, ERRORED, ABANDONED, "its branch lost a race")                                              \
    MOVE(INSTANCE, ACTIVE, PAUSED, TURN_REPAIR, "work of it failed for good: it waits for repair")                     \
    MOVE(INSTANCE, PAUSED, ACTIVE, REPAIR, "somebody has mended what was wrong, and resumes it")                       \
    MOVE(INSTANCE, ACTIVE, ACTIVE, RESTART_FROM, "from any state, unless it is being undone")                          \
    MOVE(INSTANCE, WAITING, ACTIVE, RESTART_FROM, "from any state, unless it is being undone")                         \
    MOVE(INSTANCE, PAUSED, ACTIVE, RESTART_FROM, "from any state, unless it is being undone")                          \
    MOVE(INSTANCE, COMPLETE, ACTIVE, RESTART_FROM, "from any state, unless it is being undone")                        \
    MOVE(INSTANCE, ERRORED, ACTIVE, RESTART_FROM, "from any state, unless it is being undone")                         \
    MOVE(INSTANCE, TERMINATED, ACTIVE, RESTART_FROM, "from any state, unless it is being undone")                      \
    MOVE(TASK, HELD, PAUSED, TURN_REPAIR, "it waits for repair")                                                       \
    MOVE(TASK, PAUSING, PAUSED, TURN_REPAIR, "it would have been paused anyhow")                                       \
    MOVE(TASK, HELD, QUEUED, TURN_REPAIR, "seldom: something was demanded meanwhile, and so it goes on")               \
    MOVE(TASK, PAUSED, QUEUED, REPAIR, "for any runner")                                                               \
    MOVE(TASK, PAUSED, HELD, REPAIR, "handed to the local runner")                                                     \
    MOVE(TASK, ABSENT, QUEUED, RESTART_FROM, "the last run had finished")                                              \
    MOVE(TASK, QUEUED, QUEUED, RESTART_FROM, "the new run's task takes its place")                                     \
    MOVE(TASK, WAITING, QUEUED, RESTART_FROM, "the new run's task takes its place")                                    \
    MOVE(TASK, PAUSED, QUEUED, RESTART_FROM, "the new run's task takes its place")                                     \
    MOVE(TASK, HELD, QUEUED, RESTART_FROM, "the new run's task takes its place")                                       \
    MOVE(TASK, PAUSING, QUEUED, RESTART_FROM, "seldom: the new run's task takes its place")                            \
    MOVE(TASK, ABSENT, HELD, RESTART_FROM, "handed to the local runner")                                               \
    MOVE(TASK, QUEUED, HELD, RESTART_FROM, "seldom: handed to the local runner")                                       \
    MOVE(TASK, WAITING, HELD, RESTART_FROM, "handed to the local runner")                                              \
    MOVE(TASK, PAUSED, HELD, RESTART_FROM, "handed to the local runner")                                               \
    MOVE(TASK, HELD, HELD, RESTART_FROM, "handed to the local runner")                                                 \
    MOVE(TASK, PAUSING, HELD, RESTART_FROM, "seldom: handed to the local runner")                                      \
    MOVE(DO, ERRORED, WAITING, REPAIR, "it is to be tried again, from its first attempt")                              \
    MOVE(CALL, ERRORED, WAITING, REPAIR, "it is to be called again, from its first attempt")                           \
    MOVE(AWAIT, ERRORED, WAITING, REPAIR, "its child is to be looked at again")
/* clang-format on */

enum sim_state {
#define SIM_STATE_CODE(code, text) SIM_STATE_##code,
    SIM_STATES(SIM_STATE_CODE)
#undef SIM_STATE_CODE
        SIM_STATE_COUNT
};

enum sim_transition {
#define SIM_TRANSITION_CODE(machine, from, to, cause, reason) SIM_##machine##_##from##_##to##_##cause,
    SIM_TRANSITIONS(SIM_TRANSITION_CODE)
#undef SIM_TRANSITION_CODE
        SIM_TRANSITION_COUNT
};

/* How an instance stood when it was looked at last. */
struct sim_standing {
    enum sim_state status, task;
    int64_t run, epoch;
};

/* After a unit was applied: what became of instances and their tasks. */
void sim_note_unit(struct sim_model *model, const struct pw_unit *unit);
/* Before a step's row becomes what the op says. */
void sim_note_step(struct sim_model *model, const struct pw_op_step *op);

/* One line for each: how often it was seen, its name, its reason. */
void sim_transitions_print(const uint64_t counts[SIM_TRANSITION_COUNT]);
/* Answers how many were never seen that so many seeds should reach, and names them.  0: how many were not at all. */
int sim_transitions_unseen(const uint64_t counts[SIM_TRANSITION_COUNT], uint64_t seeds);

#endif
