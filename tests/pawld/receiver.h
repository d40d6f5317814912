/* receiver.h - a small HTTP server of the test's own, which receives webhooks and answers as it is told. */
#ifndef TESTS_PAWLD_RECEIVER_H
#define TESTS_PAWLD_RECEIVER_H

#include "kit/running.h"

enum { REQUESTS_MAX = 64, ANSWERS_MAX = 16, REQUEST_SIZE = 8192 };

struct received_request {
    char head[REQUEST_SIZE]; /* request line and headers */
    char body[REQUEST_SIZE];
    int64_t at_ms; /* monotonic */
};

struct receiver {
    pthread_mutex_t lock; /* guards what follows */
    struct received_request requests[REQUESTS_MAX];
    int count;
    int answers[ANSWERS_MAX]; /* the status of each in turn; the last one, or 200, for all that follow */
    int answer_count;
    const char *location; /* of a redirect */
    const char *body;     /* of each answer; NULL: "ok" */
    bool holds;           /* no answer until it is told otherwise */
    int inside, inside_max;
    bool stops;

    int listener, port;
    pthread_t thread;
    pthread_t handlers[REQUESTS_MAX];
    int handler_count;
};

void receiver_open(struct receiver *receiver);
void receiver_close(struct receiver *receiver);
void receiver_answers(struct receiver *receiver, const int *statuses, int count);
void receiver_hold(struct receiver *receiver, bool holds);
/* Until so many came; fails the test when they do not. */
void receiver_await(struct receiver *receiver, int count);
int receiver_count(struct receiver *receiver);
/* The value of a header, in a buffer of the caller's; fails the test when there is none. */
void receiver_header(const struct received_request *request, const char *name, char *out_value, size_t size);

#endif
