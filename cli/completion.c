/* completion.c - pawl completion: scripts for shells; and pawl complete, which they ask.
 *
 * The scripts know nothing about pawl: they hand the words of the line to `pawl complete`, which reads the table of
 * commands and, for workflows and instances, asks the server, for a second at most.  Each answer is a line: the word, a
 * tab, and what it means. */
#include <string.h>
#include <unistd.h>

#include "listing.h"
#include "run.h"
#include "settings.h"

/* ---- Scripts --------------------------------------------------------------------------------------------------------- */

static const char bash_script[] =
    "# Completes pawl in bash: source <(pawl completion bash)\n"
    "_pawl() {\n"
    "    local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]} line\n"
    "    COMPREPLY=()\n"
    "    for line in $(pawl complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null); do\n"
    "        case ${line%%$'\\t'*} in\n"
    "        '<file>') compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
    "        *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done\n"
    "}\n"
    "complete -F _pawl pawl\n";

static const char zsh_script[] =
    "#compdef pawl\n"
    "# Completes pawl in zsh: save it as _pawl in a folder of $fpath.\n"
    "_pawl() {\n"
    "    local -a found\n"
    "    local line name\n"
    "    for line in \"${(@f)$(pawl complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
    "        [[ -z $line ]] && continue\n"
    "        name=${line%%$'\\t'*}\n"
    "        if [[ $name == '<file>' ]]; then\n"
    "            _files\n"
    "            return\n"
    "        fi\n"
    "        found+=(\"${name//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done\n"
    "    _describe -t pawl pawl found\n"
    "}\n"
    "if [[ $funcstack[1] == _pawl ]]; then _pawl \"$@\"; else compdef _pawl pawl; fi\n";

static const char fish_script[] = "# Completes pawl in fish: save it as ~/.config/fish/completions/pawl.fish\n"
                                  "function __pawl_complete\n"
                                  "    set -l words (commandline -opc) (commandline -ct)\n"
                                  "    set -l lines (pawl complete -- $words[2..-1] 2>/dev/null)\n"
                                  "    if test (count $lines) -eq 1; and string match -q '<file>*' -- $lines[1]\n"
                                  "        __fish_complete_path (commandline -ct)\n"
                                  "    else\n"
                                  "        string join \\n -- $lines\n"
                                  "    end\n"
                                  "end\n"
                                  "complete -c pawl -f -a '(__pawl_complete)'\n";

enum exit_code run_completion(struct session *session)
{
    static const char *const names[] = { "bash", "zsh", "fish" };
    static const char *const scripts[] = { bash_script, zsh_script, fish_script };
    const char *shell = session->invocation.arguments[0];
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(shell, names[i]) == 0) {
            text_put(&session->out, scripts[i]);
            return session_print(session);
        }
    }
    return problem_use(&session->problem, "there is completion for bash, zsh and fish, not for \"%s\"", shell);
}

/* ---- Words ----------------------------------------------------------------------------------------------------------- */

enum { ASK_MS = 1000, INSTANCES_MAX = 50 };

struct completer {
    struct session *session;
    const struct command *command;
    const char *word; /* that is being typed; "" */
    size_t argument_count;
};

static void offer(struct completer *completer, const char *word, const char *meaning)
{
    if (text_starts(word, completer->word))
        text_format(&completer->session->out, "%s\t%s\n", word, meaning);
}

static void offer_choices(struct completer *completer, const char *prefix, const char *choices)
{
    while (*choices != '\0') {
        size_t size = strcspn(choices, " ");
        offer(completer, pool_format(&completer->session->pool, "%s%.*s", prefix, (int)size, choices), "");
        choices += size + (choices[size] == ' ');
    }
}

/* A server that is not there, or does not answer at once, offers nothing. */
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
    json_t *page = NULL, *instance;
    size_t index;
    const char *slash = strchr(completer->word, '/'), *left_out;
    if (!reach(session))
        return;
    if (slash != NULL)
        listing.workflow = pool_copy(&session->pool, completer->word, (size_t)(slash - completer->word));
    if ((listing.workflow != NULL && !is_workflow_name(listing.workflow)) ||
        listing_page(session, &listing, &page, &left_out) != EXIT_DONE)
        return;
    json_array_foreach(json_at(page, "instances"), index, instance)
        offer(completer,
              pool_format(&session->pool, "%s/%s", json_text(instance, "workflowName", ""),
                          json_text(instance, "id", "")),
              json_text(instance, "details.status", ""));
    json_decref(page);
}

static void offer_value(struct completer *completer, enum option_id id, const char *prefix)
{
    const struct option *option = &option_table[id];
    switch (option->kind) {
    case VALUE_CHOICE:
        offer_choices(completer, prefix, option->choices);
        break;
    case VALUE_WORKFLOW:
        offer_workflows(completer, prefix);
        break;
    case VALUE_FILE:
        text_put(&completer->session->out, "<file>\t\n");
        break;
    case VALUE_NONE:
    case VALUE_TEXT:
    case VALUE_NUMBER:
    case VALUE_DURATION:
    case VALUE_JSON:
    case VALUE_NAME:
        break;
    }
}

static void offer_options(struct completer *completer)
{
    const enum option_id *lists[] = { completer->command->options, global_options };
    for (size_t i = 0; i < 2; i++)
        for (const enum option_id *id = lists[i]; id != NULL && *id != OPTION_NONE; id++)
            offer(completer, pool_format(&completer->session->pool, "--%s", option_table[*id].name),
                  option_table[*id].help);
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
            offer_choices(completer, "", "bash zsh fish");
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

/* The option that the word is, when its value is in the next one. */
static enum option_id awaiting_value(const struct command *command, const char *word)
{
    const enum option_id *lists[] = { global_options, command->options };
    for (size_t i = 0; i < 2; i++) {
        for (const enum option_id *id = lists[i]; id != NULL && *id != OPTION_NONE; id++) {
            const struct option *option = &option_table[*id];
            bool is_named = text_starts(word, "--")
                                ? strcmp(word + 2, option->name) == 0
                                : option->letter != '\0' && word[1] == option->letter && word[2] == '\0';
            if (is_named && option->kind != VALUE_NONE)
                return *id;
        }
    }
    return OPTION_NONE;
}

/* Keeps what says where the server is, so that it can be asked. */
static void keep_option(struct completer *completer, enum option_id id, const char *value)
{
    struct invocation *invocation = &completer->session->invocation;
    struct problem ignored;
    if (command_takes(&root_command, id) && option_check(&ignored, id, "", value) == EXIT_DONE && id != OPTION_HEADER)
        invocation->values[id] = value;
}

static enum option_id walk(struct completer *completer, const char *const *words, size_t count)
{
    enum option_id awaited = OPTION_NONE;
    for (size_t i = 0; i < count; i++) {
        if (awaited != OPTION_NONE && strcmp(words[i], "=") == 0)
            continue; /* bash takes --status=e for three words */
        if (awaited != OPTION_NONE) {
            keep_option(completer, awaited, words[i]);
            awaited = OPTION_NONE;
        } else if (words[i][0] == '-' && words[i][1] != '\0') {
            awaited = awaiting_value(completer->command, words[i]);
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
    enum option_id awaited = walk(&completer, invocation->arguments, count > 0 ? count - 1 : 0);
    const char *equals = strchr(completer.word, '=');
    if (awaited != OPTION_NONE) {
        if (strcmp(completer.word, "=") == 0)
            completer.word = "";
        offer_value(&completer, awaited, "");
    } else if (text_starts(completer.word, "--") && equals != NULL) {
        const char *name = pool_copy(&session->pool, completer.word, (size_t)(equals - completer.word));
        enum option_id id = awaiting_value(completer.command, name);
        if (id != OPTION_NONE)
            offer_value(&completer, id, pool_format(&session->pool, "%s=", name));
    } else if (completer.word[0] == '-') {
        offer_options(&completer);
    } else if (completer.command->children != NULL) {
        offer_commands(&completer);
    } else {
        offer_arguments(&completer);
    }
    session->problem.text[0] = '\0';
    return session_print(session);
}
