/* options.h - the options of a program, as tables: parsing, help, man page and completion (page.h, completion.h) read them.
 *
 * An option is given by a flag, "--name", "-n", or by a key of a configuration file, or by both.  What is wrong with one is told
 * in a line of PW_PROBLEM_SIZE bytes at most. */
#ifndef PW_COMMON_OPTIONS_H
#define PW_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pw_option_kind {                 /* the member of a struct that pw_option_set() writes */
                      PW_OPTION_FLAG, /* bool */
                      PW_OPTION_TEXT, /* const char *, which is borrowed; not empty, unless a range of sizes says so */
                      PW_OPTION_FILE, /* the same: a path */
                      PW_OPTION_JSON, /* the same */
                      PW_OPTION_CHOICE, /* the same: one of `choices` */
                      PW_OPTION_NAME, /* the same: 1 to 100 of [a-zA-Z0-9_-], not starting with -: an instance, an event type */
                      PW_OPTION_WORKFLOW, /* the same: the name of a workflow */
                      PW_OPTION_NUMBER,   /* int64_t */
                      PW_OPTION_REAL,     /* double */
                      PW_OPTION_DURATION, /* int64_t, in ms; a bare number is seconds */
                      PW_OPTION_TEXTS,    /* struct pw_texts: may be given more than once */
                      PW_OPTION_OTHER     /* only in a file, and read by its program */
};

struct pw_option {
    const char *name; /* without dashes; NULL: only in a file */
    char letter;      /* or NUL */
    enum pw_option_kind kind;
    const char *value;       /* what its value is called; NULL of a flag */
    const char *help;        /* NULL: not shown */
    const char *choices;     /* with a blank between them */
    const char *environment; /* the variable that stands for it, or NULL */
    const char *key;         /* its path in a configuration file, "tls.cert", or NULL */
    int64_t min, max;        /* of a number; of a text's size, if max is not 0; of a count of texts */
    size_t offset;           /* of the member in the program's struct */
};

enum { PW_TEXTS_MAX = 256, PW_PROBLEM_SIZE = 512 };

struct pw_texts {
    const char *items[PW_TEXTS_MAX];
    size_t count;
};

/* Writes the line, and answers false. */
bool pw_problem(char problem[PW_PROBLEM_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the value is one that the option takes.  `who` names what gave it: "--timeout", "PAWL_TIMEOUT". */
bool pw_option_check(const struct pw_option *option, const char *who, const char *value, char problem[PW_PROBLEM_SIZE]);
/* The same, and writes it to the member of the struct at `base`. */
bool pw_option_set(const struct pw_option *option, void *base, const char *who, const char *value,
                   char problem[PW_PROBLEM_SIZE]);
/* "a whole number from 1 to 9": what it takes. */
void pw_option_wanted(const struct pw_option *option, char *out_text, size_t size);

/* ---- Command lines ------------------------------------------------------------------------------------------------------ */

/* Lists of options are pointers up to a NULL.  By name, or by letter where the name is NULL.  NULL: there is none. */
const struct pw_option *pw_option_find(const struct pw_option *const *options, const char *name, size_t size,
                                       char letter);

/* "--name value", "--name=value", "-n value", "-nvalue", "-n=value", flags together as "-la", and arguments in between; what
 * is behind "--" is arguments. */
struct pw_words {
    char **words;
    int count, position; /* of the next one; begins at 1 */
    const char *letters; /* what is left of flags together */
    bool options_ended;
};

struct pw_word {
    const struct pw_option *option; /* NULL: an argument */
    const char *value;              /* "" of a flag */
    char who[48];                   /* "--name", "-n" */
};

enum pw_words_status { PW_WORDS_END, PW_WORDS_FOUND, PW_WORDS_WRONG };

/* program: "pawl instances get", for the message. */
enum pw_words_status pw_words_next(struct pw_words *words, const struct pw_option *const *options, const char *program,
                                   struct pw_word *out_word, char problem[PW_PROBLEM_SIZE]);

#endif
