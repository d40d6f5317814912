/* settings.c - see settings.h. */
#include "settings.h"

#include <pawl/pawl.h>
#include <string.h>

#include "address.h"
#include "common/limits.h"
#include "common/store_url.h"
#include "problem.h"

/* ---- The table --------------------------------------------------------------------------------------------------- */

enum { PATH_SIZE_MAX = 4096, GIB = 1 << 30 };

#define AT(field) .offset = offsetof(struct settings, field)
static const struct pw_option settings_table[] = {
    PW_OPTIONS_OF("places"),
    { "store", 0, PW_OPTION_TEXT, "URL",
      .help = "the database: sqlite:path or postgres://host/database (sqlite:pawl.db)", .key = "store",
      .max = PATH_SIZE_MAX, AT(store) },
    { "listen", 0, PW_OPTION_TEXTS, "ADDRESS",
      .help = "host:port, [address]:port, :port or unix:path; may be given more than once (127.0.0.1:7295; "
              "port 0 takes a free port). Anything but loopback and Unix sockets needs tokens",
      .key = "listen", .max = 16, AT(listen) },
    { "mount", 0, PW_OPTION_TEXT, "PATH", .help = "the path where the API begins (/api); \"\" for the root",
      .key = "mount", .max = 256, AT(mount) },
    { "config", 0, PW_OPTION_FILE, "FILE", .help = "a JSON file; see below. Flags override it", AT(config) },
    PW_OPTIONS_OF("running"),
    { "worker", 0, PW_OPTION_TEXTS, "MODULE",
      .help = "load only the functions of this module and none of its workflows, to carry out calls of workflows "
              "that run in other processes on the store. May be given more than once, and without other "
              "modules",
      .key = "workerModules", .max = PW_TEXTS_MAX, AT(worker_modules) },
    { "workers", 0, PW_OPTION_NUMBER, "N",
      .help = "how many step bodies run at once (8); 0: run none here, leave them to ticks and other processes",
      .key = "workers", .max = PW_WORKERS_MAX, AT(workers) },
    { "in-flight", 0, PW_OPTION_NUMBER, "N", .help = "how many runs are held at once (256)", .key = "inFlight",
      .min = 1, .max = 1000000, AT(in_flight) },
    { "drain-ms", 0, PW_OPTION_NUMBER, "N",
      .help = "how long a drain may take before pawld stops at once (30000); 0: no limit", .key = "drainMs",
      .max = PW_DAY_MS, AT(drain_ms) },
    { "allow-tick", 0, PW_OPTION_FLAG, NULL, .help = "allow POST /_runner/tick", .key = "allowTick", AT(allow_tick) },
    { "migrate-only", 0, PW_OPTION_FLAG, NULL,
      .help = "migrate the store's tables to this version and exit; needs no module. Without this flag they are "
              "migrated at the start",
      AT(migrate_only) },
    { "dev", 0, PW_OPTION_FLAG, NULL,
      .help = "take C source files: compile them with $CC (cc), $CFLAGS and $LDLIBS, load them, and do so again "
              "whenever they change",
      .key = "dev", AT(dev) },
    PW_OPTIONS_OF("security"),
    { "tokens", 0, PW_OPTION_FILE, "FILE",
      .help = "a file with the lines that `pawld token new` printed; without tokens everybody who can connect may "
              "do everything",
      .key = "tokensFile", .min = 1, .max = PATH_SIZE_MAX, AT(tokens_file) },
    { "rate-limit", 0, PW_OPTION_REAL, "N",
      .help = "requests a second for each token, with bursts of as many; more get 429 (no limit)", .key = "rateLimit",
      .max = 1000000, AT(rate_limit) },
    { "tls-cert", 0, PW_OPTION_FILE, "FILE",
      .help = "serve https with this certificate and its chain, in PEM; needs --tls-key", .key = "tls.cert", .min = 1,
      .max = PATH_SIZE_MAX, AT(tls_cert) },
    { "tls-key", 0, PW_OPTION_FILE, "FILE", .help = "the certificate's private key, in PEM", .key = "tls.key", .min = 1,
      .max = PATH_SIZE_MAX, AT(tls_key) },
    { "tls-allow-readable-key", 0, PW_OPTION_FLAG, NULL,
      .help = "accept a key that everybody on the machine can read, as containers mount them; otherwise it is "
              "refused",
      .key = "tls.allowReadableKey", AT(tls_allow_readable_key) },
    { "cors", 0, PW_OPTION_TEXT, "ORIGIN",
      .help = "let pages of this origin use the API: https://example.org, or * (none)", .key = "cors", .min = 1,
      .max = 256, AT(cors) },
    PW_OPTIONS_OF("logging"),
    { "log", 0, PW_OPTION_CHOICE, "FORMAT",
      .help = "json: one object a line; plain: text; auto: plain on a terminal, else json (auto)",
      .choices = "auto json plain", .key = "log", AT(log) },
    { "log-level", 0, PW_OPTION_CHOICE, "LEVEL", .help = "debug, info, warn or error: log this level and worse (info)",
      .choices = "debug info warn error", .key = "logLevel", AT(log_level) },
    PW_OPTIONS_ASKED(struct settings, asked),
    PW_OPTIONS_OF("only in the configuration file"),
    { NULL, 0, PW_OPTION_TEXTS, NULL, .help = "a list of module files; the key of --worker is workerModules",
      .key = "modules", .max = PW_TEXTS_MAX, AT(modules) },
    { NULL, 0, PW_OPTION_OTHER, "an object of at most 256 functions, each {\"concurrency\": n}",
      .help = "{name: {concurrency}}: how many calls of a function run at once, over all workers on the store "
              "that set this limit",
      .key = "functions" },
    { NULL, 0, PW_OPTION_OTHER, "a list of texts, each a line that \"pawld token new\" printed",
      .help = "a list of lines, as in the file that tokensFile names", .key = "tokens" },
    { NULL, 0, PW_OPTION_OTHER, "a list of at most 32 objects",
      .help = "a list of {name, url, events, secret or secretFile, timeoutMs, attempts, delayMs}. Events "
              "are onWorkflowEnqueued and onInstanceFinished; the secret signs each body (HMAC-SHA256)",
      .key = "webhooks" },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "how many webhook deliveries run at once (4)",
      .key = "webhookParallelism", .min = 1, .max = 64, AT(webhook_parallelism) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "most steps of a run", .key = "limits.steps", .min = 1, .max = 1000000,
      AT(steps) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "most sleeps, waits and races of a run", .key = "limits.waits", .min = 1,
      .max = 1000000, AT(waits) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "largest payload, result or error", .key = "limits.payloadBytes",
      .min = 1, .max = GIB, AT(payload_bytes) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "most events that a run has not taken yet", .key = "limits.unreadEvents",
      .min = 1, .max = 1000000000, AT(unread_events) },
    { NULL, 0, PW_OPTION_NUMBER, NULL,
      .help = "memory for bodies, answers and histories together (a quarter of the machine's memory, or of the "
              "control group's)",
      .key = "limits.memoryBytes", .min = 1 << 20, .max = INT64_MAX, AT(memory_bytes) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "largest body of a request", .key = "limits.bodyBytes", .min = 1,
      .max = GIB, AT(body_bytes) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "largest headers of a request", .key = "limits.headerBytes", .min = 1024,
      .max = 1 << 20, AT(header_bytes) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "most connections at once", .key = "limits.connections", .min = 1,
      .max = 1000000, AT(connections) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "most event streams at once", .key = "limits.streams", .min = 1,
      .max = 1000000, AT(streams) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "threads that answer requests", .key = "limits.threads", .min = 1,
      .max = 64, AT(threads) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "how long a request may wait for a run or a job", .key = "limits.waitMs",
      .min = 1, .max = PW_DAY_MS, AT(wait_ms) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "how long a client may take to send a request",
      .key = "limits.requestMs", .min = 100, .max = PW_DAY_MS, AT(request_ms) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "how long an idle connection is kept", .key = "limits.idleMs",
      .min = 100, .max = PW_DAY_MS, AT(idle_ms) },
    { NULL, 0, PW_OPTION_NUMBER, NULL,
      .help = "how long workflow code may run between two durable calls (60000); code that blocks for "
              "longer is logged, and its thread is replaced",
      .key = "limits.codeMs", .min = 100, .max = PW_DAY_MS, AT(code_ms) },
    { NULL, 0, PW_OPTION_NUMBER, NULL,
      .help = "with this many blocked threads no new runs are taken, and /health/ready is 503 (64)",
      .key = "limits.blockedThreads", .min = 1, .max = 10000, AT(blocked_threads) },
};
#undef AT

static const struct pw_section settings_sections[] = {
    { "pawld token new",
      .text =
          "Makes a token. It is shown once, on standard error. The line to keep, which holds its hash, is printed on "
          "standard output. Scopes: read, create, manage, event, tick, work. A workflow that requires permissions "
          "accepts tokens that have all of them: --permission admin, given more than once or joined by commas." },
    { "configuration file",
      .text = "One JSON object. Every flag is a key, in this spelling: store, listen (a text or a list), "
              "mount, workers, inFlight, drainMs, allowTick, dev, workerModules (a text or a list), tokensFile, "
              "rateLimit, cors, log, logLevel, tls {cert, key, allowReadableKey}. Keys with a dot are nested objects: "
              "limits {steps, waits}. Paths are relative to the current directory." },
    { "exit status",
      .entries =
          (const struct pw_entry[]){
              { "0", "stopped as asked" },
              { "1", "could not start (an unreadable file, a store that cannot be opened, a port in use), or had "
                     "to stop at once" },
              { "2", "wrong use of a flag, or an error in a file" },
              { "128 plus a number", "a second signal, of that number, stopped it" },
              { NULL, NULL } } },
    { "examples",
      .examples =
          (const struct pw_entry[]){
              { "cc -shared -fPIC -g -o order.so order.c $(pkg-config --cflags pawl) && pawld order.so", NULL },
              { "pawld --dev order.c", NULL },
              { "pawld --worker charge.so --store sqlite:/var/lib/pawl/pawl.db", NULL },
              { "pawld token new --name ops --scope read,manage >>tokens", NULL },
              { "pawld --listen :7295 --tokens tokens --tls-cert cert.pem --tls-key key.pem order.so", NULL },
              { "pawld --listen unix:/run/pawl/pawl.sock --store sqlite:/var/lib/pawl/pawl.db order.so", NULL },
              { "curl -s localhost:7295/api/workflows", NULL },
              { NULL, NULL } } },
};

const struct pw_program settings_program = {
    .page = { .name = "pawld",
              .summary = "runs durable workflows and serves them over HTTP",
              .usage =
                  (const char *const[]){ "pawld [options] module.so ...", "pawld [options] --dev file.c ...",
                                         "pawld [options] --worker module.so ...",
                                         "pawld token new --scope read,create [--name NAME] [--permission P]", NULL },
              .description =
                  "Runs the workflows of the modules and serves them over HTTP until SIGTERM or SIGINT. Then it takes "
                  "no new work, answers the requests under way, lets step bodies finish and gives its leases "
                  "back. A second signal stops it at once. Nothing is lost but the bodies under way, which run "
                  "again.",
              .sections = settings_sections,
              .section_count = sizeof settings_sections / sizeof settings_sections[0],
              .volume = 8,
              .version = PAWL_VERSION,
              .see_also = ".BR pawl (1),\n.BR pawl-check (1)\n" },
    .options = settings_table,
    .option_count = sizeof settings_table / sizeof settings_table[0],
};

const struct pw_option *settings_key(const char *key)
{
    for (size_t i = 0; i < settings_program.option_count; i++) {
        if (settings_table[i].key != NULL && strcmp(settings_table[i].key, key) == 0)
            return &settings_table[i];
    }
    return NULL;
}

bool settings_is_given(const struct settings *settings, const struct pw_option *option)
{
    return settings->given[option - settings_table];
}

/* ---- Setting ----------------------------------------------------------------------------------------------------- */

/* Errors do not quote the URL, because it may hold a password. */
static pawl_status set_store(struct settings *settings, const struct pw_option *option, const char *who,
                             const char *url, struct pawl_error *error)
{
    char *room = pawl_scope_take(settings->scope, pw_store_url_room(strlen(url)));
    bool is_second = settings_is_given(settings, option); /* two stores are a misunderstanding, not an override */
    if (room == NULL)
        return problem(error, PAWL_NOMEM, "out of memory");
    if (is_second || url[0] == '\0' || strlen(url) > PATH_SIZE_MAX)
        return problem(error, PAWL_INVALID,
                       "%s is the URL of one database (run one pawld for each: docs/postgres.md), not %s", who,
                       is_second ? "two" : "that");
    settings->store = url;
    settings->shown_store = pw_store_url_split(url, room).shown;
    return PAWL_OK;
}

pawl_status settings_set(struct settings *settings, const struct pw_option *option, const char *who, const char *text,
                         struct pawl_error *error)
{
    char wrong[PW_PROBLEM_SIZE];
    if (option->offset == offsetof(struct settings, store))
        return set_store(settings, option, who, text, error);
    return pw_option_set(option, settings, who, text, wrong) ? PAWL_OK : problem(error, PAWL_INVALID, "%s", wrong);
}

pawl_status settings_read_flags(struct settings *settings, int count, char **values, struct pawl_error *error)
{
    struct pw_words words = { .words = values, .count = count, .position = 1 };
    const struct pw_option_list options = pw_program_options(&settings_program);
    for (;;) {
        struct pw_word word;
        char wrong[PW_PROBLEM_SIZE];
        enum pw_words_status found = pw_words_next(&words, options.items, "pawld", &word, wrong);
        if (found == PW_WORDS_END)
            return PAWL_OK;
        if (found == PW_WORDS_WRONG)
            return problem(error, PAWL_INVALID, "%s", wrong);
        const struct pw_option *option = word.option != NULL ? word.option : settings_key("modules");
        PAWL_TRY(
            settings_set(settings, option, word.option != NULL ? word.who : "the list of modules", word.value, error));
        settings->given[option - settings_table] = true;
    }
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

bool settings_init(struct settings *settings)
{
    *settings = (struct settings){ .scope = pawl_scope_new(),
                                   .store = "sqlite:pawl.db",
                                   .shown_store = "sqlite:pawl.db",
                                   .mount = "/api",
                                   .log = "auto",
                                   .log_level = "info",
                                   .workers = PW_WORKERS_DEFAULT,
                                   .drain_ms = 30000 };
    return settings->scope != NULL;
}

void settings_free(struct settings *settings)
{
    pawl_scope_free(settings->scope);
}

static bool is_source(const char *path)
{
    size_t size = strlen(path);
    return size > 2 && strcmp(path + size - 2, ".c") == 0;
}

static pawl_status check_sources(const struct settings *settings, struct pawl_error *error)
{
    for (size_t i = 0; i < settings->modules.count; i++) {
        const char *path = settings->modules.items[i];
        if (settings->dev && !is_source(path))
            return problem(error, PAWL_INVALID, "--dev takes C source files, \"file.c\"; \"%s\" is none", path);
        if (!settings->dev && is_source(path))
            return problem(error, PAWL_INVALID, "\"%s\" is source: pawld --dev %s compiles and runs it", path, path);
    }
    for (size_t i = 0; i < settings->worker_modules.count; i++) {
        const char *path = settings->worker_modules.items[i];
        if (is_source(path))
            return problem(error, PAWL_INVALID,
                           "--worker takes a shared object, with or without --dev; \"%s\" is source", path);
    }
    return PAWL_OK;
}

pawl_status settings_check(const struct settings *settings, struct pawl_error *error)
{
    const char *mount = settings->mount;
    if (settings->migrate_only && settings->dev)
        return problem(error, PAWL_INVALID, "--migrate-only and --dev cannot be combined");
    bool has_some = settings->modules.count > 0 || (settings->worker_modules.count > 0 && !settings->dev);
    if (!has_some && !settings->migrate_only)
        return problem(error, PAWL_INVALID, "which modules? pawld [options] module.so ... (see pawld --help)");
    if (mount[0] != '\0' && (mount[0] != '/' || mount[strlen(mount) - 1] == '/' || strpbrk(mount, "?# ") != NULL))
        return problem(error, PAWL_INVALID,
                       "--mount is a path like \"/api\", without a slash at its end, or empty; not \"%s\"", mount);
    if ((settings->tls_cert == NULL) != (settings->tls_key == NULL))
        return problem(error, PAWL_INVALID, "--tls-cert and --tls-key belong together; only one of them is there");
    if (settings->rate_limit > 0 && settings->tokens_file == NULL && settings->tokens == NULL)
        return problem(error, PAWL_INVALID, "--rate-limit is for each token, and there are no tokens: see --tokens");
    for (size_t i = 0; i < settings->listen.count; i++) {
        struct pw_address address;
        PAWL_TRY(address_parse(settings->listen.items[i], &address, error));
    }
    return check_sources(settings, error);
}
