/* arguments.h - pawld's command line. */
#ifndef PAWLD_ARGUMENTS_H
#define PAWLD_ARGUMENTS_H

#include "settings.h"

/* Reads flags and module names into the settings, not the file that --config names. */
pawl_status arguments_parse(struct settings *settings, int count, char **values, struct pawl_error *error);

/* On standard output. */
void arguments_print_help(void);

#endif
