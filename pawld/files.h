/* files.h - small files, whole. */
#ifndef PAWLD_FILES_H
#define PAWLD_FILES_H

#include <pawl/value.h>

enum { FILE_SIZE_MAX = 1 << 20 };

/* The file's text, with a NUL behind it, in the scope.  It may hold no NUL. */
pawl_status file_read(pawl_scope *scope, const char *path, const char **out_text, struct pawl_error *error);

#endif
