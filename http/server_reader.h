/* server_reader.h - threads that ask the store for the workers.
 *
 * A worker serves many clients, so it never waits.  But a page of a history takes megabytes to read, and a store on
 * a server may not answer any question for a minute.  So the worker suspends such a connection and a reader carries
 * its call on.  When the reader is done, the worker is told like of any other news.
 *
 * Rules:
 *  1. Calls wait for a reader in order of arrival.  They reserve no memory for their answer meanwhile.
 *  2. At most PW_READINGS_MAX calls wait, each at most PW_READING_MS_MAX.  After that its worker takes it back.  A call
 *     that a reader has begun with ends when the store answers.
 *  3. done() is called with the readers' lock held, so that whoever sees that a reading is over knows that the
 *     reader no longer uses it.  done() must only note the fact. */
#ifndef HTTP_SERVER_READER_H
#define HTTP_SERVER_READER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "pawl/http.h"

enum { PW_READINGS_MAX = 1024, PW_READING_MS_MAX = 5000 };

/* A call that is handed over.  Its owner keeps it in memory until done() is called. */
struct pw_reading {
    struct pw_reading *previous, *next; /* in the queue */
    pawl_http_call *call;
    void (*carry)(pawl_http_call *call);
    void (*done)(struct pw_reading *reading);
    enum pw_reading_stage { PW_READING_OVER, PW_READING_WAITS, PW_READING_IS_CARRIED } stage; /* under the lock */
};

struct pw_readers {
    pthread_mutex_t lock; /* the lock and the condition exist as long as the server */
    pthread_cond_t changed;
    struct pw_reading *first, *last; /* the queue */
    size_t waiting;
    pthread_t *threads;
    int count;
    bool is_stopping;
};

/* PAWL_FAILED, with the reason, if the system refuses; PAWL_NOMEM. */
pawl_status pw_readers_start(struct pw_readers *readers, int count, struct pawl_error *error) PAWL_MUST_CHECK;
/* Calls done() for all readings, whether they were carried on or not. */
void pw_readers_stop(struct pw_readers *readers);

/* From any thread.  Returns false if too many wait or the readers are stopped. */
bool pw_readers_hand_over(struct pw_readers *readers, struct pw_reading *reading);
/* True while the reading waits or is carried on. */
bool pw_readers_have(struct pw_readers *readers, struct pw_reading *reading);
/* Takes the reading back if no reader has begun with it.  Returns false if one has. */
bool pw_readers_take_back(struct pw_readers *readers, struct pw_reading *reading);

#endif
