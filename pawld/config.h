/* config.h - the configuration file: one JSON object, whose keys pawld --help lists.  Errors name file and key. */
#ifndef PAWLD_CONFIG_H
#define PAWLD_CONFIG_H

#include "settings.h"

/* Reads the file into the settings, but for what flags have set. */
pawl_status config_read(struct settings *settings, const char *path, struct pawl_error *error);

#endif
