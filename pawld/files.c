/* files.c - see files.h. */
#include "files.h"

#include "common/file.h"
#include "problem.h"

pawl_status file_read(pawl_scope *scope, const char *path, const char **out_text, struct pawl_error *error)
{
    struct pw_buffer text = { 0 };
    char wrong[PW_PROBLEM_SIZE];
    enum pw_file_status read = pw_file_read(path, FILE_SIZE_MAX, &text, wrong);
    const char *kept = read == PW_FILE_READ ? pawl_scope_format(scope, "%s", text.data) : NULL;
    pw_buffer_clear(&text);
    if (read != PW_FILE_READ)
        return problem(error, read == PW_FILE_WRONG ? PAWL_INVALID : PAWL_FAILED, "%s", wrong);
    if (kept == NULL)
        return problem(error, PAWL_NOMEM, "out of memory");
    *out_text = kept;
    return PAWL_OK;
}
