/* workspace.c - runs that share a folder: lock it, read, work on it in parallel, join, write, unlock it.
 *
 *     ./workspace    makes a folder "workspace" with a text in it and lets two runs measure it, one after the other
 *
 * The workflow function only decides.  Everything that touches a file is a step.  The locking step has a
 * compensation: if a later step fails, or the run is interrupted or terminated with rollback, the folder is
 * unlocked.  (A plain terminate runs no code and would leave it locked.) The lock itself is in folder_lock.h. */
#include "folder_lock.h"

#include <pawl/pawl.h>
#include <stdlib.h>

enum { TEXT_SIZE = 65536 };

static const char *workspace_of(const pawl_value *input)
{
    return pawl_value_string(input, "workspace", "workspace");
}

/* ---- The lock --------------------------------------------------------------------------------------------------- */

static pawl_status lock(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    bool has_it;
    PAWL_TRY(folder_enter(step, workspace_of(input), pawl_value_string(input, "token", ""), &has_it));
    return pawl_result(step, out_result, "{s:b}", "acquired", has_it);
}

static pawl_status unlock(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)out_result;
    return folder_leave(step, workspace_of(input));
}

/* A compensation gets {"input": the step's input, "result": its result}. */
static pawl_status undo_lock(pawl_step *step, const pawl_value *done, pawl_value **out_result)
{
    return unlock(step, pawl_value_at(done, "input"), out_result);
}

static const struct pawl_compensation by_unlocking = { .undo = undo_lock };
static const struct pawl_step_options locking = { .compensate = &by_unlocking };

/* Returns when this run has the folder to itself.  The deferred may succeed before the run waits for it. */
static pawl_status lock_workspace(pawl_run *run, const pawl_value *params)
{
    pawl_value *input, *answer;
    const char *token;
    PAWL_TRY(pawl_deferred_token(run, "workspace is free", &token));
    PAWL_TRY(
        pawl_value_pack(pawl_run_scope(run), &input, "{s:s, s:s}", "workspace", workspace_of(params), "token", token));
    PAWL_TRY(pawl_do(run, "lock workspace", &locking, lock, input, &answer));
    if (pawl_value_bool(answer, "acquired", false))
        return PAWL_OK;
    return pawl_await_deferred(run, "workspace is free", NULL, NULL);
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

static pawl_status read_input(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    const char *path = pawl_scope_format(pawl_step_scope(step), "%s/input.txt", workspace_of(params));
    char *text = pawl_scope_take(pawl_step_scope(step), TEXT_SIZE);
    if (path == NULL || text == NULL)
        return PAWL_NOMEM;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return folder_trouble(step, path);
    text[fread(text, 1, TEXT_SIZE - 1, file)] = '\0';
    (void)fclose(file);
    return pawl_result(step, out_result, "s", text);
}

/* The step may run again: writing the same text twice does no harm. */
static pawl_status write_file(pawl_step *step, const pawl_value *input, const char *name, const char *text)
{
    const char *path = pawl_scope_format(pawl_step_scope(step), "%s/%s", workspace_of(input), name);
    FILE *file = path != NULL ? fopen(path, "we") : NULL;
    if (file == NULL)
        return path == NULL ? PAWL_NOMEM : folder_trouble(step, path);
    bool is_written = fprintf(file, "%s\n", text) > 0;
    return fclose(file) == 0 && is_written ? PAWL_OK : folder_trouble(step, path);
}

/* ---- The branches ----------------------------------------------------------------------------------------------- */

static int measure(const char *what, const char *text)
{
    int lines = 0, words = 0, bytes = 0;
    for (char before = ' '; text[bytes] != '\0'; before = text[bytes++]) {
        lines += text[bytes] == '\n';
        words += (before == ' ' || before == '\n') && text[bytes] != ' ' && text[bytes] != '\n';
    }
    return strcmp(what, "lines") == 0 ? lines : strcmp(what, "words") == 0 ? words : bytes;
}

/* Each branch writes its own file in the workspace. */
static pawl_status measure_text(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const char *what = pawl_value_string(input, "what", "");
    const char *found =
        pawl_scope_format(pawl_step_scope(step), "%d %s", measure(what, pawl_value_string(input, "text", "")), what);
    if (found == NULL)
        return PAWL_NOMEM;
    PAWL_TRY(write_file(step, input, what, found));
    return pawl_result(step, out_result, "s", found);
}

static pawl_status branch(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *name = pawl_run_format(run, "measure %s", pawl_value_string(input, "what", ""));
    return pawl_do(run, name, NULL, measure_text, input, out_result);
}

/* ---- The workflow ----------------------------------------------------------------------------------------------- */

static pawl_status write_summary(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const pawl_value *found = pawl_value_at(input, "found");
    const char *summary = pawl_scope_format(pawl_step_scope(step), "%s, %s, %s", pawl_value_string(found, "0", ""),
                                            pawl_value_string(found, "1", ""), pawl_value_string(found, "2", ""));
    if (summary == NULL)
        return PAWL_NOMEM;
    PAWL_TRY(write_file(step, input, "summary", summary));
    return pawl_result(step, out_result, "s", summary);
}

static pawl_status workspace(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const char *const what[] = { "lines", "words", "bytes" };
    struct pawl_branch branches[3];
    pawl_value *text, *inputs[3], *found, *summary;

    PAWL_TRY(lock_workspace(run, params));
    PAWL_TRY(pawl_do(run, "read input", NULL, read_input, params, &text));

    for (int i = 0; i < 3; i++) {
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &inputs[i], "{s:s, s:s, s:V}", "workspace", workspace_of(params),
                                 "what", what[i], "text", text));
        branches[i] = (struct pawl_branch){ .run = branch, .input = inputs[i] };
    }
    PAWL_TRY(pawl_all(run, "provision", branches, 3, 0));

    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &found, "{s:s, s:[V,V,V]}", "workspace", workspace_of(params),
                             "found", branches[0].result, branches[1].result, branches[2].result));
    PAWL_TRY(pawl_do(run, "write summary", NULL, write_summary, found, &summary));
    PAWL_TRY(pawl_do(run, "unlock workspace", NULL, unlock, params, NULL));
    return pawl_return(run, out_result, "{s:V}", "summary", summary);
}

PAWL_MODULE({ .name = "workspace", .run = workspace, .description = "Measures the text in a shared folder" });

#ifndef PAWL_NO_MAIN
#include "host.h"

#include <sys/stat.h>

static int make_workspace(void)
{
    FILE *file = mkdir("workspace", 0755) == 0 || errno == EEXIST ? fopen("workspace/input.txt", "we") : NULL;
    if (file == NULL)
        return -1;
    (void)fputs("Whoever has the lock\nhas the folder to itself.\n", file);
    return fclose(file);
}

int main(void)
{
    static const char *const ids[] = { "run-1", "run-2" };
    struct host host;
    if (make_workspace() != 0) {
        perror("workspace");
        return 1;
    }
    pawl_status status = host_open(&host, "sqlite:workspace.db", &pawl_module, NULL);
    for (int i = 0; i < 2 && status == PAWL_OK; i++)
        status = host_create(&host, "workspace", ids[i], NULL);
    for (int i = 0; i < 2 && status == PAWL_OK; i++) {
        status = host_wait(&host, "workspace", ids[i]);
        if (status == PAWL_OK)
            status = host_show(&host, "workspace", ids[i]);
    }
    return host_close(&host, status);
}
#endif
