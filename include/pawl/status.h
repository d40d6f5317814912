/* status.h - status codes and errors.
 *
 * Every function that can fail returns a pawl_status, which must be checked.  The list below is the only place where
 * codes are defined.  The HTTP API, histories and logs show their names; their texts are for people.  A function
 * that can say more than a code takes a struct pawl_error.  The caller owns it, it may be NULL, and it is written
 * only on failure.  The library never prints and keeps no "last error". */
#ifndef PAWL_STATUS_H
#define PAWL_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PAWL_MUST_CHECK __attribute__((warn_unused_result))
#define PAWL_PRINTF(format_index, first_index) __attribute__((format(printf, format_index, first_index)))
#define PAWL_API __attribute__((visibility("default")))
#else
#define PAWL_MUST_CHECK
#define PAWL_PRINTF(format_index, first_index)
#define PAWL_API
#endif

/* clang-format off */
#define PAWL_STATUS_LIST(X)                                                                                    \
    X(OK, "ok")                                                                                                \
    /* How a durable call ends.  A workflow returns these up; PAWL_TRY does it. */                             \
    X(SUSPENDED, "the run is parked; return this status up")                                                   \
    X(FAILED, "failed")                                                                                        \
    X(NON_RETRYABLE, "failed, and trying again would not help")                                                \
    X(WAIT_FOR_EVENT_TIMEOUT, "no event of that type came in time")                                            \
    X(INTERRUPTED, "the run is interrupted; return this status up")                                            \
    /* What a step can fail with besides its own errors. */                                                    \
    X(STEP_TIMEOUT, "the attempt outlived its timeout")                                                        \
    X(STEP_MAX_ATTEMPTS_EXCEEDED, "the step has used up its attempts")                                         \
    X(STEP_UNIQUE_CONSTRAINT_VIOLATION, "a change registered in the step met a row that is there already")     \
    X(STEP_MUTATION_FAILED, "a change registered in the step was refused by the database")                     \
    X(STEP_ABANDONED, "another branch came first")                                                             \
    X(CHILD_TERMINATED, "the child was terminated")                                                            \
    X(JOB_ENDED, "the job was ended from outside")                                                             \
    X(COMPENSATION_FAILED, "what a step had done could not be undone")                                         \
    /* Wrong use of the authoring API. */                                                                      \
    X(INVALID_STEP_NAME, "a step name is 1 to 256 bytes of UTF-8")                                             \
    X(DUPLICATE_STEP_KEY, "two unfinished calls of one step name at once")                                     \
    X(STEP_TYPE_MISMATCH, "this step name already belongs to another kind of step")                            \
    X(INVALID_DURATION, "not a duration")                                                                      \
    X(SLEEP_RANGE, "a sleep lasts 0 ms to 365 days")                                                           \
    X(WAIT_FOR_EVENT_TIMEOUT_RANGE, "a wait for an event lasts 1 second to 365 days")                          \
    X(MAX_STEPS_EXCEEDED, "the run has too many steps")                                                        \
    X(MAX_WAITS_EXCEEDED, "the run has too many sleeps and waits")                                             \
    X(INVALID_LOG, "a log line is out of bounds")                                                              \
    X(INVALID_JSON, "not valid JSON")                                                                          \
    X(PAYLOAD_TOO_LARGE, "the payload is too large")                                                           \
    /* What a service call can be refused with. */                                                             \
    X(INVALID, "invalid argument")                                                                             \
    X(INVALID_WORKFLOW_NAME, "a workflow name is 1 to 64 of [a-zA-Z0-9_-], not starting with - or _")          \
    X(DUPLICATE_WORKFLOW, "a workflow of this name is registered already")                                     \
    X(WORKFLOW_NOT_FOUND, "no workflow of this name is registered")                                            \
    X(INVALID_INSTANCE_ID, "an instance id is 1 to 100 of [a-zA-Z0-9_-], not starting with -")                 \
    X(INSTANCE_ID_ALREADY_EXISTS, "an instance of this id exists already")                                     \
    X(INSTANCE_NOT_FOUND, "no instance of this id")                                                            \
    X(INSTANCE_TERMINAL, "the instance has finished")                                                          \
    X(MAX_EVENTS_EXCEEDED, "the run has too many events that no step has taken")                               \
    X(INVALID_EVENT_TYPE, "an event type is 1 to 100 of [a-zA-Z0-9_-], not starting with -")                   \
    X(INVALID_CURSOR, "not a cursor of this listing")                                                          \
    X(DELIVERY_NOT_FOUND, "no delivery of this id waits, or failed")                                           \
    X(INVALID_FUNCTION_NAME, "a function name is 1 to 63 of [a-zA-Z0-9._-], not starting with - or .")         \
    X(INVALID_TOKEN, "not a token of ours, or what it names is gone")                                          \
    X(DEFERRED_COMPLETED, "the deferred was completed before, in another way")                                 \
    X(JOB_GONE, "the job is not this worker's any more: nothing it says counts")                               \
    X(NOT_REPAIRABLE, "the instance cannot be taken up where it stopped")                                      \
    X(MODULE_INVALID, "not a Pawl module, or one built for another version")                                   \
    /* Concurrency and the outside world. */                                                                   \
    X(CONFLICT, "somebody else moved the run on; nothing was changed")                                         \
    X(BUSY, "too much contention, or the store does not answer; try again")                                    \
    X(STOPPED, "stopped")                                                                                      \
    X(NOMEM, "out of memory")                                                                                  \
    X(STORE_UNAVAILABLE, "the store cannot be used now")                                                       \
    X(STORE_FULL, "the disk or the database is full")                                                          \
    X(STORE_READ_ONLY, "the database is read-only")                                                            \
    X(STORE_CORRUPT, "the database is damaged, or is not a database of ours")                                  \
    X(STORE_TOO_NEW, "a newer Pawl has migrated the database, and this one takes no new work")
/* clang-format on */

typedef enum pawl_status {
#define PAWL_STATUS_CODE(code, text) PAWL_##code,
    PAWL_STATUS_LIST(PAWL_STATUS_CODE)
#undef PAWL_STATUS_CODE
        PAWL_STATUS_COUNT
} pawl_status;

/* "INSTANCE_NOT_FOUND" for PAWL_INSTANCE_NOT_FOUND.  Never NULL; static. */
PAWL_API const char *pawl_status_name(pawl_status status);

/* Returns from the calling function with the status unless it is PAWL_OK. */
#define PAWL_TRY(call)                                                                                                 \
    do {                                                                                                               \
        pawl_status pawl_try_status_ = (call);                                                                         \
        if (pawl_try_status_ != PAWL_OK)                                                                               \
            return pawl_try_status_;                                                                                   \
    } while (0)

/* The sentence for people.  Never NULL; static. */
PAWL_API const char *pawl_status_text(pawl_status status);

/* What went wrong, where, and what would be right.  Its size is fixed, so that it works when memory is out. */
struct pawl_error {
    pawl_status status;
    char text[512]; /* valid UTF-8, even if it quotes something longer or something that is not UTF-8 */
};

/* Makes a text valid UTF-8, in place.  Removes what is left of a character that a full buffer or "%.80s" has cut.
 * Any other byte that is not UTF-8 becomes a question mark.  For code that formats texts for Pawl or its clients. */
PAWL_API void pawl_text_mend(char *text);

#ifdef __cplusplus
}
#endif
#endif
