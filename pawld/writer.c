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
    struct pw_helper helper; /* its lock guards what follows, except `writing`, which is the thread's */
    bool is_busy;
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
    (void)pthread_mutex_unlock(&writer->helper.lock);
    dropped += write_lines(writer->descriptor, taken, size);
    if (dropped > 0 && tell_dropped(writer, dropped))
        dropped = 0;
    (void)pthread_mutex_lock(&writer->helper.lock);
    writer->is_busy = false;
    writer->dropped += dropped;
}

static void *run(void *user)
{
    struct writer *writer = user;
    (void)pthread_mutex_lock(&writer->helper.lock);
    while (!writer->helper.is_stopped) {
        if (writer->size > 0) {
            write_what_waits(writer);
        } else {
            (void)pthread_cond_broadcast(&writer->helper.changed); /* to whoever flushes */
            (void)pthread_cond_wait(&writer->helper.changed, &writer->helper.lock);
        }
    }
    (void)pthread_mutex_unlock(&writer->helper.lock);
    return NULL;
}

void writer_add(struct writer *writer, const char *text, size_t size)
{
    (void)pthread_mutex_lock(&writer->helper.lock);
    if (writer->size + size > WRITER_BYTES_MAX) {
        writer->dropped++;
    } else {
        memcpy(writer->filling + writer->size, text, size);
        writer->size += size;
        (void)pthread_cond_broadcast(&writer->helper.changed);
    }
    (void)pthread_mutex_unlock(&writer->helper.lock);
}

bool writer_flush(struct writer *writer, int64_t limit_ms)
{
    const struct timespec until = pw_cond_moment(limit_ms);
    int code = 0;
    (void)pthread_mutex_lock(&writer->helper.lock);
    while ((writer->size > 0 || writer->is_busy) && code == 0)
        code = pthread_cond_timedwait(&writer->helper.changed, &writer->helper.lock, &until);
    bool is_empty = writer->size == 0 && !writer->is_busy;
    (void)pthread_mutex_unlock(&writer->helper.lock);
    return is_empty;
}

/* ---- Opening and closing ------------------------------------------------------------------------------------------- */

struct writer *writer_open(int descriptor, writer_tell_fn *tell, void *user)
{
    struct writer *writer = calloc(1, sizeof *writer); /* it is large: pages that no line ever fills are not touched */
    if (writer == NULL)
        return NULL;
    writer->descriptor = descriptor;
    writer->tell = tell;
    writer->user = user;
    writer->filling = writer->buffers[0];
    writer->writing = writer->buffers[1];
    if (pw_helper_init(&writer->helper)) {
        if (pw_helper_start(&writer->helper, run, writer))
            return writer;
        pw_helper_clear(&writer->helper);
    }
    free(writer);
    return NULL;
}

/* If the thread hangs in a write, it keeps the memory until the process ends. */
void writer_close(struct writer *writer)
{
    if (writer == NULL)
        return;
    if (!writer_flush(writer, CLOSE_MS_MAX)) {
        (void)pthread_mutex_lock(&writer->helper.lock);
        writer->helper.is_stopped = true;
        (void)pthread_mutex_unlock(&writer->helper.lock);
        (void)pthread_detach(writer->helper.thread);
        return;
    }
    pw_helper_clear(&writer->helper);
    free(writer);
}
