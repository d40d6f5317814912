/* malformed.h - malformed requests, made by chance out of a seed: broken request lines and headers, bodies whose length is a
 * lie, bad chunks, tricks with percent signs, JSON that is too deep or doubled or no UTF-8, wrong methods, bodies that are too
 * large, requests cut short, and good ones with some bytes damaged. */
#ifndef TESTS_HTTP_MALFORMED_H
#define TESTS_HTTP_MALFORMED_H

#include <stdbool.h>
#include <stddef.h>

/* They are about the workflows of serving.h, and about this instance; a server of theirs takes bodies of so many bytes. */
#define MALFORMED_RUNS "/api/workflows/quick/instances"
#define MALFORMED_WAITS "/api/workflows/waits/instances/w"
#define MALFORMED_EXECUTE "/api/workflows/quick/execute"
enum { MALFORMED_BODY_BYTES_MAX = 256 * 1024 };

struct malformed {
    const char *what;
    int serial;
    char *data; /* with a NUL behind it; there may be others in it */
    size_t size, room;
    unsigned seed;
    bool is_whole; /* it has an end that a server can see, so it must be answered; the others have to be ended */
    bool is_bad;   /* whole, and nothing but 4xx is right */
    bool is_cut;   /* it must have no effect: it might have created an instance of "quick" named never-<serial> */
};

/* The same serial makes the same request.  No instance of "quick" named "never" is ever right. */
void malformed_make(struct malformed *request, int serial);
void malformed_clear(struct malformed *request);

/* A number below `of`, by the request's own chance. */
unsigned malformed_chance(struct malformed *request, unsigned of);

#endif
