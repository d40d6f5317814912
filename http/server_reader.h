/* server_reader.h - threads that ask the store for the workers.
 *
 * A worker has many clients, so it waits for nobody.  A page of a history is some megabytes that are read from the store; and
 * a store on a server may be silent for a minute, whatever it is asked.  So a worker puts such a connection aside, and a reader
 * carries its call on; when that is done the worker is told, as by any other news.
 *
 * Rules:
 *  1. Who waits for a reader holds no memory, and is served in the order of coming.
 *  2. No more than PW_READINGS_MAX wait, and none for longer than PW_READING_MS_MAX: its worker takes it back then.  What a
 *     reader has begun with ends when the store says so.
 *  3. done() is said with the readers' lock held, so that whoever finds that a reading is over finds its thread gone from
 *     it, too.  It must only note the fact. */
#ifndef HTTP_SERVER_READER_H
#define HTTP_SERVER_READER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "pawl/http.h"

enum { PW_READINGS_MAX = 1024, PW_READING_MS_MAX = 5000 };

/* A call that is handed over; its owner's, until it is told. */
struct pw_reading {
    struct pw_reading *previous, *next; /* of those that wait */
    pawl_http_call *call;
    void (*carry)(pawl_http_call *call);
    void (*done)(struct pw_reading *reading);
    enum pw_reading_stage { PW_READING_OVER, PW_READING_WAITS, PW_READING_IS_CARRIED } stage; /* under the lock */
};

struct pw_readers {
    pthread_mutex_t lock; /* both are made and destroyed with the server */
    pthread_cond_t changed;
    struct pw_reading *first, *last; /* those that wait */
    size_t waiting;
    pthread_t *threads;
    int count;
    bool is_stopping;
};

/* PAWL_FAILED, saying why, when the system refuses; PAWL_NOMEM. */
pawl_status pw_readers_start(struct pw_readers *readers, int count, struct pawl_error *error) PAWL_MUST_CHECK;
/* Says done() of all that were handed over, carried on or not. */
void pw_readers_stop(struct pw_readers *readers);

/* From any thread.  False: too many wait, or they were stopped; it is not taken. */
bool pw_readers_hand_over(struct pw_readers *readers, struct pw_reading *reading);
/* Is a reading that was handed over still under way? */
bool pw_readers_have(struct pw_readers *readers, struct pw_reading *reading);
/* Takes it back, if no reader has begun with it.  False: one has. */
bool pw_readers_take_back(struct pw_readers *readers, struct pw_reading *reading);

#endif
