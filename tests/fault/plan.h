/* plan.h - which call fails, and for how long.
 *
 * A trial arms one kind of fault and the number of the call at which it strikes: once, or from there on until disarmed.
 * Every place that can fail asks fault_strikes() with its kind; the calls of the armed kind are counted in one counter.
 * A loop over the numbers 1, 2, ... ends at the first trial in which nothing struck: then every call was tried.
 *
 * The plan belongs to the thread that armed it: other threads' calls never fail. */
#ifndef FAULT_PLAN_H
#define FAULT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_KINDS(KIND)                                                                                              \
    KIND(ALLOC, "alloc")                 /* malloc, calloc, realloc of the engine */                                   \
    KIND(ALLOC_SQLITE, "alloc-sqlite")   /* SQLite's memory */                                                         \
    KIND(ALLOC_JANSSON, "alloc-jansson") /* Jansson's memory */                                                        \
    KIND(APPLY_BEFORE, "apply-before")   /* the store refuses a commit */                                              \
    KIND(APPLY_AFTER, "apply-after")     /* the store commits, and says that it could not: the ambiguous commit */     \
    KIND(STORE_READ, "store-read")                                                                                     \
    KIND(ANNOUNCE, "announce")                                                                                         \
    KIND(PQ_CONNECT, "pq-connect")       /* PostgreSQL hangs up on who connects */                                     \
    KIND(PQ_SEND, "pq-send")             /* libpq cannot keep what is to be sent */                                    \
    KIND(PQ_CUT_BEFORE, "pq-cut-before") /* the connection is cut before what was kept is sent */                      \
    KIND(PQ_CUT_AFTER, "pq-cut-after")   /* and behind it: it may be carried out */                                    \
    KIND(PQ_READ, "pq-read")             /* and before the answer is read */                                           \
    KIND(IO_OPEN, "io-open")                                                                                           \
    KIND(IO_READ, "io-read")                                                                                           \
    KIND(IO_WRITE, "io-write") /* SQLITE_IOERR_WRITE, nothing written */                                               \
    KIND(IO_SHORT, "io-short") /* SQLITE_IOERR_WRITE, half of it written */                                            \
    KIND(IO_FULL, "io-full")   /* SQLITE_FULL, half of it written */                                                   \
    KIND(IO_SYNC, "io-sync")                                                                                           \
    KIND(IO_TRUNCATE, "io-truncate")                                                                                   \
    KIND(IO_SIZE, "io-size")                                                                                           \
    KIND(IO_DELETE, "io-delete")                                                                                       \
    KIND(IO_ACCESS, "io-access")                                                                                       \
    KIND(IO_LOCK, "io-lock") /* SQLITE_IOERR_LOCK of the file's lock */                                                \
    KIND(IO_BUSY, "io-busy") /* SQLITE_BUSY of a lock: another process has it */                                       \
    KIND(IO_SHM_MAP, "io-shm-map")                                                                                     \
    KIND(IO_SHM_LOCK, "io-shm-lock")

enum fault_kind {
#define FAULT_KIND_CODE(code, name) FAULT_##code,
    FAULT_KINDS(FAULT_KIND_CODE)
#undef FAULT_KIND_CODE
        FAULT_KIND_COUNT
};

const char *fault_kind_name(enum fault_kind kind);

/* The nth call of the kind from now on, from 1.  for_ever: and every later one. */
void fault_arm(enum fault_kind kind, int64_t nth, bool for_ever);
/* Nothing fails any more.  Returns how often the fault struck. */
int64_t fault_disarm(void);
/* How often it has struck so far since it was armed. */
int64_t fault_struck(void);
/* How many calls of a kind, any kind, there were since it was armed. */
int64_t fault_calls(enum fault_kind kind);
#define FAULT_NEVER INT64_MAX /* as nth: only counts */

/* How far a loop goes from one trial to the next: so far, unless PAWL_FAULT_EVERY says otherwise. */
int64_t fault_stride(int64_t otherwise);

/* For the places that can fail: now? */
bool fault_strikes(enum fault_kind kind);

/* Puts the plan behind SQLite's and Jansson's allocators.  Before either is used.  The engine's own calls are wrapped by
 * the linker: see tests/CMakeLists.txt. */
bool fault_install_allocators(void);

#endif
