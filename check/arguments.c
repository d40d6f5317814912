/* arguments.c - see arguments.h. */
#include "arguments.h"

#include <pawl/pawl.h>
#include <stdlib.h>
#include <string.h>

#include "common/duration.h"
#include "common/file.h"

enum { PARAMS_SIZE_MAX = 64 * 1024 * 1024 };

/* ---- The table --------------------------------------------------------------------------------------------------------- */

#define AT(field) .offset = offsetof(struct arguments, field)
static const struct pw_option options[] = {
    PW_OPTIONS_OF("options"),
    { "workflow", 0, PW_OPTION_TEXT, "NAME",
      .help = "check only this workflow; default: all of the module, one after the other", AT(workflow) },
    { "params", 0, PW_OPTION_JSON, "JSON | @FILE", .help = "the params of its instance", AT(params_json) },
    { "event", 0, PW_OPTION_TEXTS, "TYPE[=JSON][@OFFSET]",
      .help = "send it an event this long after its creation (\"@1 hour\"; default: at once); may be given more than "
              "once, in order of time",
      .max = PW_TEXTS_MAX, AT(event_texts) },
    { "sql", 0, PW_OPTION_TEXTS, "STATEMENT",
      .help = "run this first in each world, which begins empty, for example to make the tables that steps write to; "
              "may be given more than once",
      .max = PW_TEXTS_MAX, AT(sql) },
    { "seed", 0, PW_OPTION_NUMBER, "N", .help = "the seed of the random numbers", .max = INT64_MAX, AT(seed) },
    { "timeout", 0, PW_OPTION_TEXT, "DURATION",
      .help = "kill code that reports no new step or case for this long in real time (\"60 s\"); give more if a single "
              "body takes longer",
      AT(timeout) },
    { "any-outcome", 0, PW_OPTION_FLAG, NULL, .help = "do not compare results, because they differ from run to run",
      AT(outcome_may_vary) },
    { "same-names", 0, PW_OPTION_FLAG, NULL,
      .help = "do not report a name that is used twice in one pass, because it means the same step",
      AT(names_may_repeat) },
    { "real-clock", 0, PW_OPTION_FLAG, NULL,
      .help = "let time() and the like return the machine's time instead of the simulated time", AT(real_clock) },
    { "verbose", 'v', PW_OPTION_FLAG, NULL, .help = "list every commit", AT(verbose) },
    PW_OPTIONS_ASKED(struct arguments, asked),
};
#undef AT

static const struct pw_section sections[] = {
    { "exit status",
      .entries =
          (const struct pw_entry[]){ { "0", "nothing found" },
                                     { "1", "found something" },
                                     { "2", "wrong use, nothing to check, or a report that could not be written" },
                                     { NULL, NULL } } },
    { "examples",
      .examples =
          (const struct pw_entry[]){
              { "cc -shared -fPIC -g $(pkg-config --cflags pawl) -o order.so order.c && pawl-check ./order.so", NULL },
              { "pawl-check ./order.so --workflow order --params '{\"sku\": \"teapot\"}' --event 'approval={\"by\": "
                "\"Ada\"}@1 hour'",
                NULL },
              { NULL, NULL } } },
};

const struct pw_program arguments_program = {
    .page = { .name = "pawl-check",
              .summary = "run a module's workflows once for every commit, with a crash just before and just after it",
              .usage = (const char *const[]){ "pawl-check MODULE.so [options]", NULL },
              .description =
                  "Time is simulated, also for time(), gettimeofday() and clock_gettime(CLOCK_REALTIME): a wait for an "
                  "event that never comes times out at once.\n\n"
                  "It reports a different result after a crash, different steps, a completed step that runs again, a "
                  "run that does not end, a function that does not make the same durable calls when it runs again, a "
                  "name that is used twice in one pass, and an end with an error that only the code can cause, such as "
                  "INVALID_DURATION. After each crash the module's static variables are reset to their state at "
                  "loading. Each workflow runs in a process of its own: if a body crashes it or does not return, "
                  "this is reported, and the next workflow follows.",
              .sections = sections,
              .section_count = sizeof sections / sizeof sections[0],
              .volume = 1,
              .version = PAWL_VERSION,
              .see_also = ".BR pawl (1),\n.BR pawld (8)\n" },
    .options = options,
    .option_count = sizeof options / sizeof options[0],
};

/* ---- What the values mean ------------------------------------------------------------------------------------------------ */

static bool read_params(struct arguments *arguments, char *wrong)
{
    if (arguments->params_json == NULL || arguments->params_json[0] != '@')
        return true;
    if (pw_file_read(arguments->params_json + 1, PARAMS_SIZE_MAX, &arguments->params_file, wrong) != PW_FILE_READ)
        return false;
    arguments->params_json = arguments->params_file.data;
    return true;
}

/* The offset follows the last '@'.  An '@' inside the JSON has a closing mark behind it. */
static char *find_offset(char *text)
{
    char *at = strrchr(text, '@');
    return at != NULL && strpbrk(at, "\"}]") == NULL ? at : NULL;
}

/* Parses type[=json][@offset]. */
static bool make_event(const char *given, struct pawl_sweep_event *event)
{
    char *text = strdup(given);
    event->type = text;
    if (text == NULL)
        return false;
    char *offset = find_offset(text), *payload = strchr(text, '=');
    if (offset != NULL) {
        *offset = '\0';
        event->after = offset + 1;
    }
    if (payload != NULL) {
        *payload = '\0';
        event->payload_json = payload + 1;
    }
    return true;
}

static bool make_events(struct arguments *arguments, char *wrong)
{
    size_t count = arguments->event_texts.count;
    arguments->events = calloc(count + 1, sizeof *arguments->events);
    bool is_made = arguments->events != NULL;
    for (size_t i = 0; is_made && i < count; i++)
        is_made = make_event(arguments->event_texts.items[i], &arguments->events[i]);
    return is_made || pw_problem(wrong, "out of memory");
}

/* ---- All of it ------------------------------------------------------------------------------------------------------------ */

static bool read_words(struct arguments *arguments, int count, char **values, char *wrong)
{
    struct pw_words words = { .words = values, .count = count, .position = 1 };
    const struct pw_option_list list = pw_program_options(&arguments_program);
    for (;;) {
        struct pw_word word;
        enum pw_words_status found = pw_words_next(&words, list.items, "pawl-check", &word, wrong);
        if (found != PW_WORDS_FOUND)
            return found == PW_WORDS_END;
        if (word.option == NULL && arguments->path != NULL)
            return pw_problem(wrong, "one module at a time: what is \"%s\"?", word.value);
        if (word.option == NULL)
            arguments->path = word.value;
        else if (!pw_option_set(word.option, arguments, word.who, word.value, wrong))
            return false;
    }
}

bool arguments_parse(struct arguments *arguments, int count, char **values, char wrong[PW_PROBLEM_SIZE])
{
    const struct pw_asked *asked = &arguments->asked;
    *arguments = (struct arguments){ .timeout = "60 s" };
    if (!read_words(arguments, count, values, wrong))
        return false;
    if (asked->help || asked->version || asked->manual || asked->completion != NULL)
        return true;
    if (!pw_duration_parse(arguments->timeout, &arguments->timeout_ms) || arguments->timeout_ms == 0)
        return pw_problem(wrong, "--timeout is a duration such as \"60 s\" or \"10 minutes\", not \"%s\"",
                          arguments->timeout);
    if (arguments->path == NULL)
        return pw_problem(wrong, "which module? (see --help)");
    return read_params(arguments, wrong) && make_events(arguments, wrong);
}

void arguments_free(struct arguments *arguments)
{
    for (size_t i = 0; arguments->events != NULL && i < arguments->event_texts.count; i++)
        free((char *)arguments->events[i].type);
    free(arguments->events);
    pw_buffer_clear(&arguments->params_file);
}
