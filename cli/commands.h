/* commands.h - the one table of commands, options, examples and environment variables.
 *
 * The parser, the help, the man pages and the completion all read this table and know nothing else.  A new command is a new
 * row; one that only sends, checks and prints needs no function of its own (verb.h). */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/page.h"
#include "problem.h"

struct session;
struct verb;

/* ---- Options --------------------------------------------------------------------------------------------------------- */

enum option_id {
    OPTION_NONE, /* ends a list of them */
    /* taken by every command */
    OPTION_BASE_URL,
    OPTION_PROFILE,
    OPTION_CONFIG,
    OPTION_HEADER,
    OPTION_TOKEN_FILE,
    OPTION_TOKEN_COMMAND,
    OPTION_CA_FILE,
    OPTION_TIMEOUT,
    OPTION_JSON,
    OPTION_OUTPUT,
    OPTION_COLOR,
    OPTION_VERBOSE,
    OPTION_HELP,
    OPTION_VERSION,
    /* taken by some commands */
    OPTION_WORKFLOW,
    OPTION_ID,
    OPTION_NEW_ID, /* of an instance to be created */
    OPTION_STATUS,
    OPTION_WORKFLOW_VERSION,
    OPTION_RUN,
    OPTION_INCLUDE_LOGS,
    OPTION_LOG_LEVEL,
    OPTION_LOG_CATEGORY,
    OPTION_NO_REPLAY,
    OPTION_FOLLOW,
    OPTION_FULL,
    OPTION_PARAMS,
    OPTION_TYPE,
    OPTION_PAYLOAD,
    OPTION_EVENT_ID,
    OPTION_ALL,
    OPTION_LIMIT,
    OPTION_CURSOR,
    OPTION_ORDER,
    OPTION_RETURN_EXISTING,
    OPTION_BATCH,
    OPTION_WAIT,
    OPTION_WAIT_FOR,
    OPTION_DRY_RUN,
    OPTION_INTERVAL,
    OPTION_DELIVERY_STATUS,
    OPTION_HOOK,
    OPTION_MAX_INSTANCES,
    OPTION_MAX_STEPS,
    OPTION_DIRECTORY,
    OPTION_FROM,
    OPTION_ROLLBACK,
    OPTION_KEY,
    OPTION_DISCARD,
    OPTION_RESULT,
    OPTION_NAME,
    OPTION_MESSAGE,
    OPTION_NO_RETRY,
    OPTION_LEASE,
    OPTION_MAX_JOBS,
    OPTION_WAIT_JOB, /* --wait of jobs claim */
    OPTION_COUNT
};

extern const struct pw_option option_table[OPTION_COUNT];
/* The options that every command takes, up to OPTION_NONE. */
extern const enum option_id global_options[];

/* ---- Environment ------------------------------------------------------------------------------------------------------- */

/* All environment variables, up to a NULL name. */
extern const struct pw_entry variable_table[];

/* ---- Commands ---------------------------------------------------------------------------------------------------------- */

enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_WORKFLOW,
    ARGUMENT_NEW,       /* WORKFLOW or WORKFLOW/ID */
    ARGUMENT_INSTANCE,  /* WORKFLOW/ID, or ID */
    ARGUMENT_INSTANCES, /* any number of instances; - reads them from standard input */
    ARGUMENT_DELIVERIES,
    ARGUMENT_FUNCTIONS,
    ARGUMENT_TOKEN, /* of a deferred or a job; - reads it from standard input */
    ARGUMENT_SHELL,
    ARGUMENT_COMMAND
};

/* How a command may print. */
enum { FORMAT_TEXT = 1, FORMAT_JSON = 2, FORMAT_IDS = 4 };

struct command {
    const char *name;
    const char *summary;            /* one line, without a full stop */
    const char *description;        /* paragraphs, with a blank line between them; NULL: the summary says it all */
    const struct command *children; /* up to a NULL name; NULL: the command runs itself */
    enum argument_kind argument;
    bool argument_is_optional;
    int formats;
    const enum option_id *options;   /* up to OPTION_NONE; or NULL */
    const enum option_id *required;  /* some of them; or NULL */
    const struct pw_entry *examples; /* or NULL */
    enum exit_code (*run)(struct session *session);
    const struct verb *verbs; /* what it asks, where `run` serves several commands; see verb.h; or NULL */
    /* Not NULL: this row is a hidden alias of that command, and has nothing but a name. */
    const struct command *same_as;
    bool is_hidden;  /* used only by our own scripts */
    bool is_offline; /* needs no server and no configuration */
};

extern const struct command root_command;

/* The child of that name, aliases resolved; NULL: there is none. */
const struct command *command_child(const struct command *parent, const char *name);
bool command_takes(const struct command *command, enum option_id id);
bool command_requires(const struct command *command, enum option_id id);
/* "[WORKFLOW]", "INSTANCE ..."; "" if it takes no argument. */
const char *command_argument(const struct command *command);
size_t command_arguments_max(const struct command *command);
/* The help of the argument; NULL if it takes none. */
const char *command_argument_help(const struct command *command);

/* Parts of the help and the man pages that belong to no command. */
extern const struct pw_entry exit_codes_help[];
extern const char configuration_help[];

#endif
