/* config.h - the configuration file: one JSON object, whose keys pawld --help lists.  Errors name the file and the
 * key. */
#ifndef PAWLD_CONFIG_H
#define PAWLD_CONFIG_H

#include "settings.h"

/* Reads the file into the settings, except for settings that a flag has set. */
pawl_status config_read(struct settings *settings, const char *path, struct pawl_error *error);

#endif
