/* options.c - see options.h.  One table says what there is, for parsing and for --help. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, ROWS_MAX = 16 };
static const uint64_t SEEDS_MAX = 999999999, SEED_MAX = 999999999999999999;

struct row {
    const char *name, *value, *help;
    bool *flag;        /* set when it is given; or NULL */
    uint64_t *number;  /* its value, from min to max; or NULL */
    const char **word; /* its value; or NULL */
    uint64_t min, max;
};

/* Ends with a row without a name. */
static void list_rows(struct options *options, bool *help, struct row *out_rows)
{
    const struct row rows[] = {
        { .name = "--seeds",
          .value = "N",
          .number = &options->seeds,
          .min = 1,
          .max = SEEDS_MAX,
          .help = "play so many seeds" },
        { .name = "--from",
          .value = "S",
          .number = &options->from,
          .max = SEED_MAX,
          .help = "the first of them; 1 otherwise" },
        { .name = "--jobs",
          .value = "J",
          .number = &options->jobs,
          .min = 1,
          .max = SIM_AT_ONCE_MAX,
          .help = "processes at once; as many as there are processors otherwise" },
        { .name = "--keep-going", .flag = &options->keep_going, .help = "go on behind a seed that fails" },
        { .name = "--sqlite",
          .flag = &options->only_sqlite,
          .help = "play all of them on SQLite, and not one in eight" },
        { .name = "--quiet", .flag = &options->quiet, .help = "no progress, just the end" },
        { .name = "--seed",
          .value = "S",
          .number = &options->seed,
          .flag = &options->single,
          .max = SEED_MAX,
          .help = "play one, and show the end of its trace when it fails" },
        { .name = "-v", .flag = &options->verbose, .help = "with --seed: show all of its trace" },
        { .name = "--transitions",
          .flag = &options->transitions,
          .help = "and tell how often each transition of a state was seen" },
        { .name = "--self-test", .flag = &options->self_test, .help = "plant violations, each of which must be found" },
        { .name = "--rules", .flag = &options->rules, .help = "print the invariants" },
        { .name = "--rules-in",
          .value = "FILE",
          .word = &options->rules_in,
          .help = "are they all written there, word for word?" },
        { .name = "--help", .flag = help, .help = "print this" },
        { .name = NULL },
    };
    _Static_assert(sizeof rows / sizeof rows[0] <= ROWS_MAX, "there is room for all rows");
    memcpy(out_rows, rows, sizeof rows);
}

static _Noreturn void print_help(const struct options *options, const struct row *rows)
{
    printf(
        "usage: %s --seeds N | --seed S | --self-test | --rules | --rules-in FILE   [option...]\n\n"
        "Plays worlds of workflows, crashes and clocks, each made of its seed alone, and checks every invariant.\n\n",
        options->program);
    for (const struct row *row = rows; row->name != NULL; row++) {
        char left[40];
        (void)snprintf(left, sizeof left, "%s %s", row->name, row->value != NULL ? row->value : "");
        printf("  %-17s %s\n", left, row->help);
    }
    puts("\nExit code: 0 when all went well, 1 when a seed failed, 2 for wrong use.");
    exit(EXIT_SUCCESS);
}

static _Noreturn void refuse(const struct options *options, const char *what, const char *wrong, const char *right)
{
    (void)fprintf(stderr, "%s: %s \"%s\": %s; --help lists all options\n", options->program, what, wrong, right);
    exit(EXIT_USAGE);
}

static uint64_t number_of(const struct options *options, const struct row *row, const char *text)
{
    char right[100], *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number >= row->min && number <= row->max)
        return number;
    (void)snprintf(right, sizeof right, "right is a whole number from %llu to %llu", (unsigned long long)row->min,
                   (unsigned long long)row->max);
    refuse(options, row->name, text, right);
}

static const struct row *find_row(const struct options *options, const struct row *rows, const char *name)
{
    for (const struct row *row = rows; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    refuse(options, "option", name, "there is none of that name");
}

static void check_together(const struct options *options)
{
    int tasks =
        (options->seeds > 0) + options->single + options->self_test + options->rules + (options->rules_in != NULL);
    if (tasks == 1)
        return;
    (void)fprintf(stderr,
                  "%s: say one of --seeds N, --seed S, --self-test, --rules and --rules-in FILE; --help tells more\n",
                  options->program);
    exit(EXIT_USAGE);
}

struct options sim_options_parse(int count, char **arguments)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct options options = { .from = 1, .jobs = 1, .program = arguments[0] };
    struct row rows[ROWS_MAX];
    bool help = false;
    if (processors > 1)
        options.jobs = processors < SIM_AT_ONCE_MAX ? (uint64_t)processors : SIM_AT_ONCE_MAX;
    list_rows(&options, &help, rows);
    for (int i = 1; i < count; i++) {
        const struct row *row = find_row(&options, rows, arguments[i]);
        if (row->value != NULL && i + 1 == count)
            refuse(&options, "option", row->name, "a value must follow it");
        if (row->flag != NULL)
            *row->flag = true;
        if (row->number != NULL)
            *row->number = number_of(&options, row, arguments[i + 1]);
        if (row->word != NULL)
            *row->word = arguments[i + 1];
        i += row->value != NULL;
    }
    if (help)
        print_help(&options, rows);
    check_together(&options);
    return options;
}
