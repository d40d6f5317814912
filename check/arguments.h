/* arguments.h - the command line of pawl-check.  Texts point into argv, or live until arguments_free(). */
#ifndef CHECK_ARGUMENTS_H
#define CHECK_ARGUMENTS_H

#include <pawl/testing.h>

#include "common/program.h"

struct arguments {
    const char *path;     /* of the module */
    const char *workflow; /* NULL: all of the module */
    const char *params_json;
    struct pw_texts sql; /* statements that prepare each world */
    struct pw_texts event_texts;
    struct pawl_sweep_event *events; /* parsed from event_texts */
    const char *timeout;             /* kill code that reports nothing for this long */
    int64_t timeout_ms;              /* the same, parsed */
    int64_t seed;
    bool outcome_may_vary, names_may_repeat, real_clock, verbose;
    struct pw_asked asked;
    struct pw_buffer params_file; /* holds params that were read from a file */
};

extern const struct pw_program arguments_program;

/* Returns false if the command line is wrong, with the reason in `wrong`, in one line. */
bool arguments_parse(struct arguments *arguments, int count, char **values, char wrong[PW_PROBLEM_SIZE]);
void arguments_free(struct arguments *arguments);

#endif
