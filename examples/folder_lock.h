/* folder_lock.h - a lock on a folder, for workspace.c: a queue of the runs that want it, kept in the folder.
 *
 * The first run in the queue has the folder.  A run that leaves wakes the next one through the token of a deferred
 * on which that run waits.  So waiting costs one row, and nothing polls.  Promises:
 *  1. Both calls are for bodies of steps: after a crash at any point they may be made again.
 *  2. A run that is over does not block the runs behind it, unless it had the folder: then somebody must leave for it.
 *  3. Any number of threads and processes may call at once.  A lock on a file lets them pass one at a time. */
#ifndef EXAMPLES_FOLDER_LOCK_H
#define EXAMPLES_FOLDER_LOCK_H

#include <errno.h>
#include <fcntl.h>
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { FOLDER_PLACES_MAX = 64 };

struct folder_place {
    char run[256];
    char token[256];
};

struct folder_queue {
    const char *path, *path_new;
    int guard; /* a file that is locked while the queue is in use */
    struct folder_place places[FOLDER_PLACES_MAX];
    size_t count;
};

static inline pawl_status folder_trouble(pawl_step *step, const char *path)
{
    return pawl_fail(step, "FileTrouble", "%s: %s", path, strerror(errno));
}

static inline pawl_status folder_queue_read(pawl_step *step, struct folder_queue *queue)
{
    FILE *file = fopen(queue->path, "re");
    if (file == NULL)
        return errno == ENOENT ? PAWL_OK : folder_trouble(step, queue->path);
    for (struct folder_place *place = queue->places; queue->count < FOLDER_PLACES_MAX; place++, queue->count++)
        if (fscanf(file, "%255s %255s", place->run, place->token) != 2)
            break;
    (void)fclose(file);
    return PAWL_OK;
}

/* Writes under another name and renames, so that a crash leaves either the old queue or the new one. */
static inline pawl_status folder_queue_write(pawl_step *step, const struct folder_queue *queue)
{
    FILE *file = fopen(queue->path_new, "we");
    if (file == NULL)
        return folder_trouble(step, queue->path_new);
    bool is_written = true;
    for (size_t i = 0; i < queue->count; i++)
        is_written = fprintf(file, "%s %s\n", queue->places[i].run, queue->places[i].token) > 0 && is_written;
    is_written = fclose(file) == 0 && is_written;
    return is_written && rename(queue->path_new, queue->path) == 0 ? PAWL_OK : folder_trouble(step, queue->path);
}

static inline pawl_status folder_queue_open(pawl_step *step, const char *folder, struct folder_queue *queue)
{
    const char *guard = pawl_scope_format(pawl_step_scope(step), "%s/.queue.guard", folder);
    queue->path = pawl_scope_format(pawl_step_scope(step), "%s/.queue", folder);
    queue->path_new = pawl_scope_format(pawl_step_scope(step), "%s/.queue.new", folder);
    queue->count = 0;
    if (guard == NULL || queue->path == NULL || queue->path_new == NULL)
        return PAWL_NOMEM;
    queue->guard = open(guard, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (queue->guard < 0)
        return folder_trouble(step, guard);
    pawl_status status =
        flock(queue->guard, LOCK_EX) == 0 ? folder_queue_read(step, queue) : folder_trouble(step, guard);
    if (status != PAWL_OK)
        (void)close(queue->guard);
    return status;
}

/* Returns the position of the step's run in the queue, or `count`. */
static inline size_t folder_queue_find(const struct folder_queue *queue, const pawl_step *step)
{
    size_t i = 0;
    while (i < queue->count && strcmp(queue->places[i].run, pawl_run_id(pawl_step_run(step))) != 0)
        i++;
    return i;
}

static inline void folder_queue_remove(struct folder_queue *queue, size_t position)
{
    queue->count--;
    memmove(&queue->places[position], &queue->places[position + 1],
            (queue->count - position) * sizeof queue->places[0]);
}

/* Adds the step's run to the queue, unless it is there already. *out_has_it tells whether it has the folder now.  If
 * not, the deferred of the token succeeds as soon as it does.  (A restarted run keeps its place and gets its new
 * token.) */
static inline pawl_status folder_enter(pawl_step *step, const char *folder, const char *token, bool *out_has_it)
{
    struct folder_queue queue;
    PAWL_TRY(folder_queue_open(step, folder, &queue));
    size_t position = folder_queue_find(&queue, step);
    pawl_status status;
    if (position == FOLDER_PLACES_MAX) {
        status = pawl_fail(step, "QueueFull", "%d runs want %s already", FOLDER_PLACES_MAX, folder);
    } else {
        struct folder_place *place = &queue.places[position];
        (void)snprintf(place->run, sizeof place->run, "%s", pawl_run_id(pawl_step_run(step)));
        (void)snprintf(place->token, sizeof place->token, "%s", token);
        queue.count += position == queue.count;
        status = folder_queue_write(step, &queue);
    }
    (void)close(queue.guard);
    *out_has_it = position == 0;
    return status;
}

/* Wakes the first run in the queue.  Drops runs that are over. */
static inline pawl_status folder_queue_tell(pawl_step *step, struct folder_queue *queue)
{
    pawl_status status = PAWL_INVALID_TOKEN;
    while (queue->count > 0 && status == PAWL_INVALID_TOKEN) {
        status = pawl_deferred_succeed(pawl_step_engine(step), queue->places[0].token, NULL, NULL);
        if (status == PAWL_INVALID_TOKEN)
            folder_queue_remove(queue, 0);
    }
    return status == PAWL_INVALID_TOKEN ? PAWL_OK : status;
}

/* Removes the step's run from the queue, if it is in it.  Wakes the next run before it writes the queue: after a
 * crash in between, the next attempt wakes it again, which does no harm. */
static inline pawl_status folder_leave(pawl_step *step, const char *folder)
{
    struct folder_queue queue;
    PAWL_TRY(folder_queue_open(step, folder, &queue));
    size_t position = folder_queue_find(&queue, step);
    pawl_status status = PAWL_OK;
    if (position < queue.count) {
        folder_queue_remove(&queue, position);
        if (position == 0)
            status = folder_queue_tell(step, &queue);
        if (status == PAWL_OK)
            status = folder_queue_write(step, &queue);
    }
    (void)close(queue.guard);
    return status;
}

#endif
