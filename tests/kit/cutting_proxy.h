/* cutting_proxy.h - stands between a client and a PostgreSQL server, on a socket of its own, and cuts the connection where
 * it hurts most: at a commit of the store. */
#ifndef TESTS_CUTTING_PROXY_H
#define TESTS_CUTTING_PROXY_H

#include <pthread.h>
#include <stdatomic.h>

enum proxy_cut {
    CUT_NOTHING,
    CUT_BEFORE_COMMIT, /* the server does not get it */
    CUT_AFTER_COMMIT   /* the server carries it out, and the client does not hear of it */
};

struct cutting_proxy {
    char folder[96];    /* of its socket: "host" for libpq */
    const char *server; /* the same of the server */
    atomic_int cut;     /* what happens at the next commit; then nothing again */
    atomic_int spared;  /* so many commits pass before that */
    atomic_int cuts_made;
    int listening;
    atomic_bool stopping;
    pthread_t thread;
};

void cutting_proxy_start(struct cutting_proxy *proxy, const char *server);
void cutting_proxy_stop(struct cutting_proxy *proxy);

#endif
