/* main.c - pawl: inspects and controls a Pawl server over HTTP. */
#include <curl/curl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "session.h"

#ifndef PAWL_CLI_VERSION
#error "the build says which version this is"
#endif

static enum exit_code run(struct session *session)
{
    const struct invocation *invocation = &session->invocation;
    const struct command *command = invocation->command;
    if (invocation_has(invocation, OPTION_VERSION)) {
        pw_buffer_format(&session->out, "pawl %s\n", PAWL_CLI_VERSION);
        return session_print(session);
    }
    if (invocation_has(invocation, OPTION_HELP)) {
        help_print(&session->screen, invocation->path, invocation->depth, &session->out);
        return session_print(session);
    }
    if (command->children != NULL) {
        help_print(&session->screen, invocation->path, invocation->depth, &session->out);
        (void)fputs(text_string(&session->out), stderr);
        return EXIT_WRONG_USE; /* no command was given */
    }
    if (!command->is_offline) {
        TRY(settings_read(&session->pool, &session->problem, invocation, &session->settings));
        client_open(session);
        session->screen = screen_open(session->settings.colour);
    }
    return command->run(session);
}

int main(int count, char **words)
{
    struct session session = { .problem = { .exit_code = EXIT_DONE } };
    json_set_alloc_funcs(memory_take, free);
    (void)setlocale(LC_CTYPE, ""); /* widths of characters; numbers stay as JSON writes them */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)fputs("pawl: curl cannot be set up\n", stderr);
        return EXIT_UNREACHABLE;
    }
    enum exit_code code = invocation_parse(&session.pool, &session.problem, count, words, &session.invocation);
    settings_begin(&session.invocation, &session.settings);
    session.screen = screen_open(session.settings.colour);
    if (code == EXIT_DONE)
        code = run(&session);
    if (code == EXIT_DONE)
        code = session_print(&session); /* what the command wrote and did not print yet */
    if (code != EXIT_DONE && session.problem.text[0] != '\0')
        problem_print(&session.problem, session_is_json(&session));
    client_close(&session.client);
    pw_buffer_clear(&session.out);
    pool_clear(&session.pool);
    curl_global_cleanup();
    return (int)code;
}
