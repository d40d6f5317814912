/* arguments.h - what pawl-check was asked to do.  Texts point into argv, or live until arguments_free(). */
#ifndef CHECK_ARGUMENTS_H
#define CHECK_ARGUMENTS_H

#include <pawl/testing.h>

#include "common/program.h"

struct arguments {
    const char *path;     /* of the module */
    const char *workflow; /* NULL: all of them */
    const char *params_json;
    struct pw_texts sql; /* to make each world ready */
    struct pw_texts event_texts;
    struct pawl_sweep_event *events; /* made from them */
    const char *timeout;             /* no word for so long, and the code is killed */
    int64_t timeout_ms;              /* the same */
    int64_t seed;
    bool outcome_may_vary, names_may_repeat, real_clock, verbose;
    struct pw_asked asked;
    struct pw_buffer params_file; /* where the params of a file live */
};

extern const struct pw_program arguments_program;

/* False when it makes no sense; `wrong` then says why, in one line. */
bool arguments_parse(struct arguments *arguments, int count, char **values, char wrong[PW_PROBLEM_SIZE]);
void arguments_free(struct arguments *arguments);

#endif
