/* files.h - reads small files as a whole. */
#ifndef PAWLD_FILES_H
#define PAWLD_FILES_H

#include <pawl/value.h>

enum { FILE_SIZE_MAX = 1 << 20 };

/* Reads a text file into the scope, ending with NUL.  A file that contains a NUL is refused. */
pawl_status file_read(pawl_scope *scope, const char *path, const char **out_text, struct pawl_error *error);

#endif
