/* writer.c - see writer.h.  There are two buffers: callers fill one while the thread writes the other. */
#include "writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/thread.h"

enum { CLOSE_MS_MAX = 1000, TELL_SIZE = 512 };

struct writer {
    int descriptor;
    writer_tell_fn *tell;
    void *user;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members below, except `writing`, which is the thread's */
    pthread_cond_t added, emptied;
    bool is_busy, is_stopping;
    int64_t dropped;
    size_t size; /* bytes in `filling` */
    char *filling, *writing;
    char buffers[2][WRITER_BYTES_MAX];
};

/* Returns false if the descriptor takes no more, or not this. */
static bool write_all(int descriptor, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, text, size);
        struct pollfd ready = { descriptor, POLLOUT, 0 };
        if (written >= 0) {
            text += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN) { /* it may have been made nonblocking */
            (void)poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Writes each line with a call of its own, because other processes may write to the same place.  Returns how many
 * lines were lost. */
static int64_t write_lines(int descriptor, const char *text, size_t size)
{
    int64_t lost = 0;
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t line_size = end != NULL ? (size_t)(end - text) + 1 : size;
        lost += !write_all(descriptor, text, line_size);
        text += line_size;
        size -= line_size;
    }
    return lost;
}

static bool tell_dropped(struct writer *writer, int64_t dropped)
{
    char text[TELL_SIZE];
    return write_all(writer->descriptor, text, writer->tell(writer->user, dropped, text, sizeof text));
}

/* Needs the lock, and releases it while writing.  Dropped lines came after the buffer's, so they are reported last. */
static void write_what_waits(struct writer *writer)
{
    char *taken = writer->filling;
    size_t size = writer->size;
    int64_t dropped = writer->dropped;
    writer->filling = writer->writing;
    writer->writing = taken;
    writer->size = 0;
    writer->dropped = 0;
    writer->is_busy = true;
    (void)pthread_mutex_unlock(&writer->lock);
    dropped += write_lines(writer->descriptor, taken, size);
    if (dropped > 0 && tell_dropped(writer, dropped))
        dropped = 0;
    (void)pthread_mutex_lock(&writer->lock);
    writer->is_busy = false;
    writer->dropped += dropped;
}

static void *run(void *user)
{
    struct writer *writer = user;
    (void)pthread_mutex_lock(&writer->lock);
    while (!writer->is_stopping) {
        if (writer->size > 0) {
            write_what_waits(writer);
        } else {
            (void)pthread_cond_broadcast(&writer->emptied);
            (void)pthread_cond_wait(&writer->added, &writer->lock);
        }
    }
    (void)pthread_mutex_unlock(&writer->lock);
    return NULL;
}

void writer_add(struct writer *writer, const char *text, size_t size)
{
    (void)pthread_mutex_lock(&writer->lock);
    if (writer->size + size > WRITER_BYTES_MAX) {
        writer->dropped++;
    } else {
        memcpy(writer->filling + writer->size, text, size);
        writer->size += size;
        (void)pthread_cond_signal(&writer->added);
    }
    (void)pthread_mutex_unlock(&writer->lock);
}

bool writer_flush(struct writer *writer, int64_t limit_ms)
{
    const struct timespec until = pw_cond_moment(limit_ms);
    int code = 0;
    (void)pthread_mutex_lock(&writer->lock);
    while ((writer->size > 0 || writer->is_busy) && code == 0)
        code = pthread_cond_timedwait(&writer->emptied, &writer->lock, &until);
    bool is_empty = writer->size == 0 && !writer->is_busy;
    (void)pthread_mutex_unlock(&writer->lock);
    return is_empty;
}

/* ---- Opening and closing ------------------------------------------------------------------------------------------- */

struct writer *writer_open(int descriptor, writer_tell_fn *tell, void *user)
{
    struct writer *writer = malloc(sizeof *writer); /* unused pages are never touched */
    if (writer == NULL)
        return NULL;
    writer->descriptor = descriptor;
    writer->tell = tell;
    writer->user = user;
    writer->is_busy = writer->is_stopping = false;
    writer->dropped = 0;
    writer->size = 0;
    writer->filling = writer->buffers[0];
    writer->writing = writer->buffers[1];
    if (pthread_mutex_init(&writer->lock, NULL) != 0)
        goto no_lock;
    if (pthread_cond_init(&writer->added, NULL) != 0)
        goto no_added;
    if (!pw_cond_init(&writer->emptied))
        goto no_emptied;
    if (pthread_create(&writer->thread, NULL, run, writer) == 0)
        return writer;
    (void)pthread_cond_destroy(&writer->emptied);
no_emptied:
    (void)pthread_cond_destroy(&writer->added);
no_added:
    (void)pthread_mutex_destroy(&writer->lock);
no_lock:
    free(writer);
    return NULL;
}

/* If the thread hangs in a write, it keeps the memory until the process ends. */
void writer_close(struct writer *writer)
{
    if (writer == NULL)
        return;
    bool is_empty = writer_flush(writer, CLOSE_MS_MAX);
    (void)pthread_mutex_lock(&writer->lock);
    writer->is_stopping = true;
    (void)pthread_cond_signal(&writer->added);
    (void)pthread_mutex_unlock(&writer->lock);
    if (!is_empty) {
        (void)pthread_detach(writer->thread);
        return;
    }
    (void)pthread_join(writer->thread, NULL);
    (void)pthread_cond_destroy(&writer->emptied);
    (void)pthread_cond_destroy(&writer->added);
    (void)pthread_mutex_destroy(&writer->lock);
    free(writer);
}
