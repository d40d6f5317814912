/* completion.h - completion of command lines in shells.
 *
 * The scripts know nothing about the program.  They pass it the words of the line, and it prints the words that the last one
 * may become, one on each line: the word, a tab, and its meaning.  "<file>" stands for file names. */
#ifndef PW_COMMON_COMPLETION_H
#define PW_COMMON_COMPLETION_H

#include "common/buffer.h"
#include "common/options.h"

#define PW_SHELLS "bash zsh fish"

/* The script for one of PW_SHELLS.  `ask` is the command that the script runs: "pawl complete". */
void pw_completion_script(const char *shell, const char *program, const char *ask, struct pw_buffer *out);

/* Offers the word if it begins with `begun`. */
void pw_offer(struct pw_buffer *out, const char *begun, const char *word, const char *meaning);
/* Offers the values that the option's table names, each with `prefix` before it: "--output=". */
void pw_offer_values(struct pw_buffer *out, const char *begun, const char *prefix, const struct pw_option *option);
void pw_offer_options(struct pw_buffer *out, const char *begun, const struct pw_option *const *options);
/* The option that the word names, if its value is in the next word; else NULL. */
const struct pw_option *pw_option_awaiting(const struct pw_option *const *options, const char *word);

/* Completes the last word, for a program that takes options and files. */
void pw_complete(struct pw_buffer *out, const struct pw_option *const *options, char **words, int count);

#endif
