/* options.h - the options of a program, as tables.  Parsing, help, man page and completion (page.h, completion.h) read them.
 *
 * An option is a flag ("--name", "-n"), a key of a configuration file, or both.  Errors are one line of at most
 * PW_PROBLEM_SIZE bytes. */
#ifndef PW_COMMON_OPTIONS_H
#define PW_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of the struct member that pw_option_set() writes. */
enum pw_option_kind {
    PW_OPTION_FLAG,     /* bool */
    PW_OPTION_TEXT,     /* const char *, borrowed; not empty, unless a range of sizes allows it */
    PW_OPTION_FILE,     /* const char *: a path */
    PW_OPTION_JSON,     /* const char * */
    PW_OPTION_CHOICE,   /* const char *: one of `choices` */
    PW_OPTION_NAME,     /* const char *: an instance or event type, 1 to 100 of [a-zA-Z0-9_-], not starting with - */
    PW_OPTION_WORKFLOW, /* const char *: the name of a workflow */
    PW_OPTION_NUMBER,   /* int64_t */
    PW_OPTION_REAL,     /* double */
    PW_OPTION_DURATION, /* int64_t, in ms; a bare number is seconds */
    PW_OPTION_TEXTS,    /* struct pw_texts: may be given more than once */
    PW_OPTION_OTHER     /* only in a file, and parsed by the program itself */
};

struct pw_option {
    const char *name; /* without dashes; NULL: only in a file */
    char letter;      /* or NUL */
    enum pw_option_kind kind;
    const char *value;       /* the name of its value in the help; NULL for a flag */
    const char *help;        /* NULL: not shown */
    const char *choices;     /* separated by blanks */
    const char *environment; /* the variable that sets it, or NULL */
    const char *key;         /* its path in a configuration file, "tls.cert", or NULL */
    int64_t min, max;        /* of a number; of the size of a text, if max is not 0; of the count of texts */
    size_t offset;           /* of the member in the program's struct */
};

enum { PW_TEXTS_MAX = 256, PW_PROBLEM_SIZE = 512 };

struct pw_texts {
    const char *items[PW_TEXTS_MAX];
    size_t count;
};

/* Writes the line, and returns false. */
bool pw_problem(char problem[PW_PROBLEM_SIZE], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Checks that the option takes the value.  `who` says how it was given: "--timeout", "PAWL_TIMEOUT". */
bool pw_option_check(const struct pw_option *option, const char *who, const char *value, char problem[PW_PROBLEM_SIZE]);
/* Checks the value, and writes it to the member of the struct at `base`. */
bool pw_option_set(const struct pw_option *option, void *base, const char *who, const char *value,
                   char problem[PW_PROBLEM_SIZE]);
/* "a whole number from 1 to 9": what it takes. */
void pw_option_wanted(const struct pw_option *option, char *out_text, size_t size);

/* ---- Command lines ------------------------------------------------------------------------------------------------------ */

/* A list of options is an array of pointers that ends with NULL.  Finds an option by name, or by letter if name is NULL.
 * Returns NULL if there is none. */
const struct pw_option *pw_option_find(const struct pw_option *const *options, const char *name, size_t size,
                                       char letter);

/* Accepts "--name value", "--name=value", "-n value", "-nvalue", "-n=value", joined flags ("-la"), and arguments in between.
 * Everything after "--" is an argument. */
struct pw_words {
    char **words;
    int count, position; /* of the next one; begins at 1 */
    const char *letters; /* the rest of joined flags */
    bool options_ended;
};

struct pw_word {
    const struct pw_option *option; /* NULL: an argument */
    const char *value;              /* "" for a flag */
    char who[48];                   /* "--name", "-n" */
};

enum pw_words_status { PW_WORDS_END, PW_WORDS_FOUND, PW_WORDS_WRONG };

/* program: "pawl instances get", for the message. */
enum pw_words_status pw_words_next(struct pw_words *words, const struct pw_option *const *options, const char *program,
                                   struct pw_word *out_word, char problem[PW_PROBLEM_SIZE]);

#endif
