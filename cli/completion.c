/* completion.c - pawl completion prints the scripts for shells; they call pawl complete (common/completion.h).
 *
 * Words come from the table of commands.  Names of workflows and instances come from the server, which has one second to
 * answer. */
#include <string.h>
#include <unistd.h>

#include "common/completion.h"
#include "listing.h"
#include "run.h"
#include "settings.h"

enum exit_code run_completion(struct session *session)
{
    static const struct pw_option shell = { "completion", 0, PW_OPTION_CHOICE, "SHELL", .choices = PW_SHELLS };
    const char *name = session->invocation.arguments[0];
    char problem[PW_PROBLEM_SIZE];
    if (!pw_option_check(&shell, "the shell", name, problem))
        return problem_use(&session->problem, "%s", problem);
    pw_completion_script(name, "pawl", "pawl complete", &session->out);
    return session_print(session);
}

/* ---- Words ----------------------------------------------------------------------------------------------------------- */

enum { ASK_MS = 1000, INSTANCES_MAX = 50 };

struct completer {
    struct session *session;
    const struct command *command;
    const char *word; /* the word being typed; may be "" */
    size_t argument_count;
};

static void offer(struct completer *completer, const char *word, const char *meaning)
{
    pw_offer(&completer->session->out, completer->word, word, meaning);
}

/* False: there is no server to ask, so nothing is offered. */
static bool reach(struct session *session)
{
    if (session->client.transfer != NULL)
        return true;
    if (settings_read(&session->pool, &session->problem, &session->invocation, &session->settings) != EXIT_DONE)
        return false;
    if (session->settings.timeout_ms > ASK_MS)
        session->settings.timeout_ms = ASK_MS;
    client_open(session);
    return true;
}

static void offer_workflows(struct completer *completer, const char *prefix)
{
    const char **names;
    size_t count;
    struct session *session = completer->session;
    if (!reach(session) || workflow_names(session, &names, &count) != EXIT_DONE)
        return;
    for (size_t i = 0; i < count; i++)
        offer(completer, pool_format(&session->pool, "%s%s", prefix, names[i]), "workflow");
}

static void offer_instances(struct completer *completer)
{
    struct session *session = completer->session;
    struct listing listing = { .verb = &instances_verb, .is_by_workflow = true, .limit = INSTANCES_MAX };
    json_t *page = NULL;
    const char *slash = strchr(completer->word, '/'), *left_out;
    if (!reach(session))
        return;
    if (slash != NULL)
        listing.workflow = pool_copy(&session->pool, completer->word, (size_t)(slash - completer->word));
    if ((listing.workflow != NULL && !is_workflow_name(listing.workflow)) ||
        listing_page(session, &listing, &page, &left_out) != EXIT_DONE)
        return;
    json_each(instance, json_at(page, "instances"))
        offer(completer,
              pool_format(&session->pool, "%s/%s", json_text(instance.value, "workflowName", ""),
                          json_text(instance.value, "id", "")),
              json_text(instance.value, "details.status", ""));
}

static void offer_value(struct completer *completer, const struct pw_option *option, const char *prefix)
{
    pw_offer_values(&completer->session->out, completer->word, prefix, option);
    if (option->kind == PW_OPTION_WORKFLOW)
        offer_workflows(completer, prefix);
}

static void offer_arguments(struct completer *completer)
{
    switch (completer->command->argument) {
    case ARGUMENT_WORKFLOW:
    case ARGUMENT_NEW:
        if (completer->argument_count == 0)
            offer_workflows(completer, "");
        break;
    case ARGUMENT_INSTANCE:
        if (completer->argument_count == 0)
            offer_instances(completer);
        break;
    case ARGUMENT_INSTANCES:
        offer_instances(completer);
        break;
    case ARGUMENT_SHELL:
        if (completer->argument_count == 0)
            pw_offer_values(&completer->session->out, completer->word, "", &(struct pw_option){ .choices = PW_SHELLS });
        break;
    case ARGUMENT_NONE:
    case ARGUMENT_DELIVERIES:
    case ARGUMENT_FUNCTIONS:
    case ARGUMENT_TOKEN:
    case ARGUMENT_COMMAND:
        break;
    }
}

static void offer_commands(struct completer *completer)
{
    for (const struct command *child = completer->command->children; child->name != NULL; child++)
        if (!child->is_hidden)
            offer(completer, child->name, child->summary);
}

/* Keeps the options that say where the server is. */
static void keep_option(struct completer *completer, const struct pw_option *option, const char *value)
{
    char problem[PW_PROBLEM_SIZE];
    ptrdiff_t id = option - option_table;
    if (command_takes(&root_command, (enum option_id)id) && pw_option_check(option, "", value, problem) &&
        id != OPTION_HEADER)
        completer->session->invocation.values[id] = value;
}

static const struct pw_option *const *known_options(const struct completer *completer)
{
    return options_of(&completer->session->pool, global_options, completer->command->options);
}

static const struct pw_option *walk(struct completer *completer, const char *const *words, size_t count)
{
    const struct pw_option *awaited = NULL;
    for (size_t i = 0; i < count; i++) {
        if (awaited != NULL && strcmp(words[i], "=") == 0)
            continue; /* bash splits --status=e into three words */
        if (awaited != NULL) {
            keep_option(completer, awaited, words[i]);
            awaited = NULL;
        } else if (words[i][0] == '-' && words[i][1] != '\0') {
            awaited = pw_option_awaiting(known_options(completer), words[i]);
        } else if (completer->command->children != NULL) {
            const struct command *child = command_child(completer->command, words[i]);
            if (child != NULL)
                completer->command = child;
        } else {
            completer->argument_count++;
        }
    }
    return awaited;
}

enum exit_code run_complete(struct session *session)
{
    const struct invocation *invocation = &session->invocation;
    size_t count = invocation->argument_count;
    struct completer completer = { session, &root_command, count > 0 ? invocation->arguments[count - 1] : "", 0 };
    const struct pw_option *awaited = walk(&completer, invocation->arguments, count > 0 ? count - 1 : 0);
    const char *equals = strchr(completer.word, '=');
    if (awaited != NULL) {
        if (strcmp(completer.word, "=") == 0)
            completer.word = "";
        offer_value(&completer, awaited, "");
    } else if (text_starts(completer.word, "--") && equals != NULL) {
        const char *name = pool_copy(&session->pool, completer.word, (size_t)(equals - completer.word));
        const struct pw_option *option = pw_option_awaiting(known_options(&completer), name);
        if (option != NULL)
            offer_value(&completer, option, pool_format(&session->pool, "%s=", name));
    } else if (completer.word[0] == '-') {
        pw_offer_options(&session->out, completer.word,
                         options_of(&session->pool, completer.command->options, global_options));
    } else if (completer.command->children != NULL) {
        offer_commands(&completer);
    } else {
        offer_arguments(&completer);
    }
    session->problem.text[0] = '\0';
    return session_print(session);
}
