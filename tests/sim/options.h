/* options.h - the simulation's command line: what may be asked for, and what is wrong with what was. */
#ifndef TESTS_SIM_OPTIONS_H
#define TESTS_SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_AT_ONCE_MAX = 15 };

/* One of seeds, single, self_test, rules and rules_in is set. */
struct options {
    uint64_t from, seeds, seed;
    uint64_t jobs;
    bool single, verbose, keep_going, self_test, quiet, transitions, rules, only_sqlite;
    const char *rules_in; /* a file's path */
    const char *program;
};

/* Ends the process when help is asked for (exit code 0), and when the arguments are wrong, which it tells (2). */
struct options sim_options_parse(int count, char **arguments);

#endif
