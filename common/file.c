/* file.c - see file.h. */
#include "common/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum pw_file_status pw_file_read(const char *path, size_t size_max, struct pw_buffer *out,
                                 char problem[PW_PROBLEM_SIZE])
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "re");
    const char *name = is_input ? "standard input" : path;
    char bytes[8192];
    enum pw_file_status status = PW_FILE_READ;
    for (size_t got = 1; file != NULL && got > 0 && out->size <= size_max && !out->failed;) {
        got = fread(bytes, 1, sizeof bytes, file);
        pw_buffer_add(out, bytes, got);
    }
    if (file == NULL || ferror(file) || out->failed) {
        status = PW_FILE_UNREADABLE;
        (void)pw_problem(problem, "%.300s cannot be read: %s", name, out->failed ? "out of memory" : strerror(errno));
    } else if (out->size > size_max) {
        status = PW_FILE_WRONG;
        (void)pw_problem(problem, "%.300s has more than %zu bytes", name, size_max);
    } else if (memchr(out->data, '\0', out->size) != NULL) {
        status = PW_FILE_WRONG;
        (void)pw_problem(problem, "%.300s has a NUL byte in it; it is not text", name);
    }
    if (file != NULL && !is_input)
        (void)fclose(file);
    return status;
}
