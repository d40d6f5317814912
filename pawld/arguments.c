/* arguments.c - see arguments.h. */
#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "common/suggest.h"
#include "problem.h"

static pawl_status unknown_flag(const char *argument, size_t name_size, struct pawl_error *error)
{
    const char *flags[SETTINGS_MAX + 1] = { NULL };
    char name[40];
    size_t count = 0;
    for (size_t i = 0; i < settings_count; i++) {
        if (settings_table[i].flag != NULL)
            flags[count++] = settings_table[i].flag;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)name_size, argument + strspn(argument, "-"));
    const char *nearest = pw_suggest(name, flags, count);
    if (nearest != NULL)
        return problem(error, PAWL_INVALID, "there is no flag %.60s; did you mean --%s?", argument, nearest);
    return problem(error, PAWL_INVALID, "there is no flag %.60s (see pawld --help)", argument);
}

/* "--name value" or "--name=value".  *position is at the flag, and afterwards at the last word of it. */
static pawl_status parse_flag(struct settings *settings, int count, char **values, int *position,
                              struct pawl_error *error)
{
    const char *argument = values[*position], *name = argument + 2, *equals = strchr(argument, '=');
    size_t name_size = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct setting *setting = settings_flag(name, name_size);
    char who[48];
    if (setting == NULL)
        return unknown_flag(argument, name_size, error);
    (void)snprintf(who, sizeof who, "--%s", setting->flag);
    if (setting->kind == SETTING_BOOL)
        return equals == NULL ? settings_set_text(settings, setting, who, "", error)
                              : problem(error, PAWL_INVALID, "%s takes no value", who);
    if (equals != NULL)
        return settings_set_text(settings, setting, who, equals + 1, error);
    if (*position + 1 >= count)
        return problem(error, PAWL_INVALID, "%s needs a value", who);
    return settings_set_text(settings, setting, who, values[++*position], error);
}

static pawl_status parse_argument(struct settings *settings, int count, char **values, int *position,
                                  struct pawl_error *error)
{
    const char *argument = values[*position];
    if (strcmp(argument, "-h") == 0)
        settings->help = true;
    else if (strncmp(argument, "--", 2) == 0)
        return parse_flag(settings, count, values, position, error);
    else if (argument[0] == '-')
        return unknown_flag(argument, strlen(argument + 1), error);
    else
        return settings_set_text(settings, settings_key("modules"), "the list of modules", argument, error);
    return PAWL_OK;
}

pawl_status arguments_parse(struct settings *settings, int count, char **values, struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    for (int i = 1; status == PAWL_OK && i < count; i++)
        status = parse_argument(settings, count, values, &i, error);
    return status;
}

/* In two, as a literal is not to be as long as all of it. */
static const char help_of_flags[] =
    "usage: pawld [options] module.so ...\n"
    "       pawld [options] --dev file.c ...\n"
    "       pawld [options] --worker module.so ...\n"
    "       pawld token new --scope read,create [--name NAME] [--permission P]\n"
    "\n"
    "Runs the workflows of the modules and serves them over HTTP, until SIGTERM or SIGINT:\n"
    "then it takes no new work, answers the requests under way, lets step bodies finish and\n"
    "gives its leases back.  A second signal stops it at once; nothing is lost but the bodies\n"
    "under way, which run again.\n"
    "\n"
    "where things are\n"
    "  --store URL         the database: sqlite:path or postgres://host/database\n"
    "                      (sqlite:pawl.db)\n"
    "  --listen ADDRESS    host:port, [address]:port, :port or unix:path; may be given more\n"
    "                      than once (127.0.0.1:7295; port 0 takes a free one).  Anything but\n"
    "                      loopback and Unix sockets needs tokens\n"
    "  --mount PATH        where the API begins (/api); \"\" for the root\n"
    "  --config FILE       JSON; see below.  Flags win over it\n"
    "\n"
    "running\n"
    "  --worker MODULE     load the functions of this module, and none of its workflows: a\n"
    "                      worker that carries out the calls which workflows elsewhere on the\n"
    "                      store make.  May be given more than once, and without other modules\n"
    "  --workers N         step bodies at once (8); 0: run nothing here, ticks and other\n"
    "                      processes on the store do\n"
    "  --in-flight N       runs held at once (256)\n"
    "  --drain-ms N        how long stopping may take before it stops anyway (30000); 0: as\n"
    "                      long as it takes\n"
    "  --allow-tick        POST /_runner/tick is answered\n"
    "  --migrate-only      bring the store's tables up to this version, and exit; needs no\n"
    "                      module.  Without it that is done at the start\n"
    "  --dev               the files are C source: compile them with $CC (cc), $CFLAGS and\n"
    "                      $LDLIBS, load them, and do so again whenever they change\n"
    "\n"
    "who may\n"
    "  --tokens FILE       lines that `pawld token new` printed; without tokens everybody who\n"
    "                      can connect may do everything\n"
    "  --rate-limit N      requests a second for each token, with bursts of as many; more are\n"
    "                      answered 429 (no limit)\n"
    "  --tls-cert FILE     serve https: the certificate with its chain, PEM ...\n"
    "  --tls-key FILE      ... and its key\n"
    "  --tls-allow-readable-key\n"
    "                      take a key that everybody on the machine can read, as containers\n"
    "                      mount them; otherwise such a key is refused\n"
    "  --cors ORIGIN       let pages of this origin use the API: https://example.org, or *\n"
    "                      (none)\n"
    "\n"
    "telling\n"
    "  --log FORMAT        json: an object a line; plain; auto: plain on a terminal (auto)\n"
    "  --log-level LEVEL   debug, info, warn or error, and what is worse (info)\n"
    "  --version           print the version\n"
    "  -h, --help          this text\n"
    "\n"
    "pawld token new       makes a token.  It is shown once, on standard error; the line to\n"
    "                      keep, which holds its hash, is on standard output.  Scopes: read,\n"
    "                      create, manage, event, tick, work.  A workflow that requires\n"
    "                      permissions lets in tokens that have all of them: --permission\n"
    "                      admin, more than once or joined by commas\n"
    "\n";

static const char help_of_file[] =
    "The configuration file is one JSON object.  Every flag is a key of it, in this spelling:\n"
    "  store, listen (a text or a list), mount, workers, inFlight, drainMs, allowTick,\n"
    "  dev, tokensFile, rateLimit, cors, log, logLevel, tls {cert, key,\n"
    "  allowReadableKey}\n"
    "and besides:\n"
    "  modules             a list of files; workerModules: those of --worker\n"
    "  functions           {name: {concurrency}}: how many calls of a function are carried out\n"
    "                      at once, by all workers on the store whose pawld says so\n"
    "  tokens              a list of lines, as in the file that tokensFile names\n"
    "  webhooks            a list of {name, url, events, secret or secretFile, timeoutMs,\n"
    "                      attempts, delayMs}.  Events are onWorkflowEnqueued and\n"
    "                      onInstanceFinished; the secret signs each body (HMAC-SHA256)\n"
    "  webhookParallelism  deliveries at once (4)\n"
    "  limits              {steps, waits, payloadBytes, unreadEvents, bodyBytes, headerBytes,\n"
    "                      connections, streams, threads, waitMs, requestMs, idleMs, codeMs,\n"
    "                      blockedThreads, memoryBytes}.\n"
    "                      codeMs: how long workflow code may run between two durable calls\n"
    "                      (60000); code that blocks for longer is logged, and its thread is\n"
    "                      replaced.  blockedThreads: at this many such threads no new runs\n"
    "                      are taken, and /health/ready is 503 (64).  memoryBytes:\n"
    "                      for bodies, answers and histories together (a quarter of the\n"
    "                      machine's memory, or of the control group's)\n"
    "Paths are relative to the current directory.\n"
    "\n"
    "Exit status: 0 stopped as asked; 1 could not start (a file that cannot be read, a store\n"
    "that cannot be opened, a taken port), or had to stop at once; 2 wrong use, of a flag or in\n"
    "a file; 128 and its number when a second signal stopped it.\n"
    "\n"
    "examples:\n"
    "  cc -shared -fPIC -g -o order.so order.c $(pkg-config --cflags pawl) && pawld order.so\n"
    "  pawld --dev order.c\n"
    "  pawld --worker charge.so --store sqlite:/var/lib/pawl/pawl.db\n"
    "  pawld token new --name ops --scope read,manage >>tokens\n"
    "  pawld --listen :7295 --tokens tokens --tls-cert cert.pem --tls-key key.pem order.so\n"
    "  pawld --listen unix:/run/pawl/pawl.sock --store sqlite:/var/lib/pawl/pawl.db order.so\n"
    "  curl -s localhost:7295/api/workflows\n";

void arguments_print_help(void)
{
    (void)fputs(help_of_flags, stdout);
    (void)fputs(help_of_file, stdout);
}
