/* sqlite.h - the SQLite store's own body: one connection that writes, a few that read.
 *
 * A file is written by one connection and read by others beside it (write-ahead log), so reading never waits for a
 * commit.  A database in memory belongs to one connection; there everybody takes turns under the pool's lock. */
#ifndef PW_STORE_SQLITE_SQLITE_H
#define PW_STORE_SQLITE_SQLITE_H

#include <pthread.h>

#include "store/sqlite/connection.h"
#include "store/sqlite/hot.h"
#include "store/sqlite/presence.h"
#include "store/sqlite/sightings.h"
#include "store/store.h"

enum { PW_SQLITE_READERS_MAX = 16, PW_SQLITE_IDLE_MS_MAX = 60000 };

struct pw_sqlite {
    struct pw_store store;
    struct pawl_clock clock;
    struct pw_arena arena; /* of the URL, and of the file's name */
    struct pw_sqlite_url url;
    struct pw_sqlite_connection writer;
    struct pw_hot hot; /* the writer's */
    struct pw_presence presence;
    struct pw_sightings sightings;
    struct pw_sqlite_file file; /* what the writer has open */

    pthread_mutex_t lock; /* guards what follows; in memory: the writer */
    pthread_cond_t given_back;
    struct pw_sqlite_connection *idle[PW_SQLITE_READERS_MAX];
    size_t idle_count, reader_count;
};

/* Waits while all readers are in use.  What was taken must be given back. */
pawl_status pw_sqlite_take_reader(struct pw_sqlite *sqlite, struct pw_sqlite_connection **out_connection,
                                  struct pawl_error *error) PAWL_MUST_CHECK;
void pw_sqlite_give_reader(struct pw_sqlite *sqlite, struct pw_sqlite_connection *connection);

/* Only one thread applies at a time; in memory it shares the connection with those that read. */
struct pw_sqlite_connection *pw_sqlite_take_writer(struct pw_sqlite *sqlite);
void pw_sqlite_give_writer(struct pw_sqlite *sqlite);

void pw_sqlite_close_readers(struct pw_sqlite *sqlite);

/* runners.c: true only when it is certain. */
bool pw_sqlite_is_dead(struct pw_sqlite *sqlite, int64_t owner);
/* A runner that may live: whoever wants its expired lease must have seen it for long enough (sightings.h). */
bool pw_sqlite_may_live(struct pw_sqlite *sqlite, int64_t owner);
int64_t pw_sqlite_monotonic_ms(const struct pw_sqlite *sqlite);
/* Deletes the rows of runners that are dead. */
pawl_status pw_sqlite_forget_runners(struct pw_sqlite *sqlite, struct pw_sqlite_connection *connection,
                                     struct pw_arena *arena, struct pawl_error *error) PAWL_MUST_CHECK;

/* The store's functions, see store.h. */
pawl_status pw_sqlite_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error);
pawl_status pw_sqlite_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                    struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error);
pawl_status pw_sqlite_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                   struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                   bool *out_has_step, struct pawl_error *error);
pawl_status pw_sqlite_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                           struct pw_instance *out_instance, struct pawl_error *error);
pawl_status pw_sqlite_list_instances(struct pw_store *store, struct pw_arena *arena,
                                     const struct pw_instance_query *query, struct pw_instance **out_rows,
                                     size_t *out_count, struct pawl_error *error);
pawl_status pw_sqlite_read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                 struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_sqlite_read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                  struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_sqlite_read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_sqlite_read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                 struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                                 struct pawl_error *error);
pawl_status pw_sqlite_read_instances(struct pw_store *store, struct pw_arena *arena,
                                     const struct pw_instances_wanted *wanted, struct pw_instance **out_rows,
                                     struct pawl_error *error);
pawl_status pw_sqlite_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                      struct pawl_error *error);
pawl_status pw_sqlite_read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                         struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_sqlite_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                               const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                               struct pawl_error *error);
pawl_status pw_sqlite_count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                                  struct pawl_error *error);
pawl_status pw_sqlite_count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count, int64_t max,
                                     struct pw_status_counts *out_counts, struct pawl_error *error);
pawl_status pw_sqlite_list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                                 struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_sqlite_next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                                struct pawl_error *error);
pawl_status pw_sqlite_announce(struct pw_store *store, int64_t owner, struct pawl_error *error);
void pw_sqlite_withdraw(struct pw_store *store, int64_t owner);
pawl_status pw_sqlite_describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error);
pawl_status pw_sqlite_probe(struct pw_store *store, struct pawl_error *error);
pawl_status pw_sqlite_list_runners(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                                   size_t *out_count, struct pawl_error *error);

#endif
