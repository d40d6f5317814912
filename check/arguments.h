/* arguments.h - what pawl-check was asked to do.  Texts point into argv, or live until arguments_free(). */
#ifndef CHECK_ARGUMENTS_H
#define CHECK_ARGUMENTS_H

#include <pawl/testing.h>

struct arguments {
    const char *path;     /* of the module */
    const char *workflow; /* NULL: all of them */
    const char *params_json;
    struct pawl_sweep_event *events;
    size_t event_count;
    const char **sql; /* to make each world ready */
    size_t sql_count;
    const char *timeout; /* no word for so long, and the code is killed */
    int64_t timeout_ms;  /* the same */
    uint64_t seed;
    bool outcome_may_vary, names_may_repeat, real_clock, verbose, help;
    char **owned; /* texts to free */
    size_t owned_count;
};

/* False when it makes no sense; `wrong` then says why, in one line. */
bool arguments_parse(struct arguments *arguments, int count, char **values, char *wrong, size_t wrong_size);
void arguments_free(struct arguments *arguments);

#endif
