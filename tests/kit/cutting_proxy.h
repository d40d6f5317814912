/* cutting_proxy.h - a proxy between a client and a PostgreSQL server, on a socket of its own, that cuts the
 * connection at a commit of the store. */
#ifndef TESTS_CUTTING_PROXY_H
#define TESTS_CUTTING_PROXY_H

#include <pthread.h>
#include <stdatomic.h>

enum proxy_cut {
    CUT_NOTHING,
    CUT_BEFORE_COMMIT, /* the server does not receive the commit */
    CUT_AFTER_COMMIT   /* the server commits, and the client gets no answer */
};

struct cutting_proxy {
    char folder[96];    /* the folder of its socket: "host" for libpq */
    const char *server; /* the folder of the server's socket */
    atomic_int cut;     /* what to do at the next commit; reset afterwards */
    atomic_int spared;  /* how many commits pass before that */
    atomic_int cuts_made;
    int listening;
    atomic_bool stopping;
    pthread_t thread;
};

void cutting_proxy_start(struct cutting_proxy *proxy, const char *server);
void cutting_proxy_stop(struct cutting_proxy *proxy);

#endif
