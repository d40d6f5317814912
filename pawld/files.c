/* files.c - see files.h. */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

static pawl_status read_all(FILE *file, const char *path, char *text, size_t *out_size, struct pawl_error *error)
{
    *out_size = fread(text, 1, FILE_SIZE_MAX + 1, file);
    if (ferror(file))
        return problem(error, PAWL_FAILED, "cannot read %.300s: %s", path, strerror(errno));
    if (*out_size > FILE_SIZE_MAX)
        return problem(error, PAWL_INVALID, "%.300s has more than %d bytes", path, FILE_SIZE_MAX);
    text[*out_size] = '\0';
    if (strlen(text) != *out_size)
        return problem(error, PAWL_INVALID, "%.300s is not a text file: it holds a NUL", path);
    return PAWL_OK;
}

pawl_status file_read(pawl_scope *scope, const char *path, const char **out_text, struct pawl_error *error)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(FILE_SIZE_MAX + 2);
    size_t size;
    pawl_status status;
    if (file == NULL)
        status = problem(error, PAWL_FAILED, "cannot read %.300s: %s", path, strerror(errno));
    else if (text == NULL)
        status = problem(error, PAWL_NOMEM, "out of memory");
    else
        status = read_all(file, path, text, &size, error);
    if (status == PAWL_OK) {
        const char *kept = pawl_scope_format(scope, "%s", text);
        if (kept != NULL)
            *out_text = kept;
        else
            status = problem(error, PAWL_NOMEM, "out of memory");
    }
    free(text);
    if (file != NULL)
        (void)fclose(file);
    return status;
}
