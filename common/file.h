/* file.h - reads whole text files. */
#ifndef PW_COMMON_FILE_H
#define PW_COMMON_FILE_H

#include "common/buffer.h"
#include "common/options.h"

enum pw_file_status {
    PW_FILE_READ,
    PW_FILE_UNREADABLE, /* or out of memory, which buffer->failed says */
    PW_FILE_WRONG       /* too large, or not text: it has a NUL in it */
};

/* path "-": standard input.  The error text begins with the name of the file. */
enum pw_file_status pw_file_read(const char *path, size_t size_max, struct pw_buffer *out,
                                 char problem[PW_PROBLEM_SIZE]);

#endif
