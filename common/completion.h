/* completion.h - completion of command lines in shells.
 *
 * The scripts know nothing about a program: they hand it the words of the line, and it answers with the words that the last one
 * may become.  Each is a line: the word, a tab, and what it means.  "<file>" stands for the names of files. */
#ifndef PW_COMMON_COMPLETION_H
#define PW_COMMON_COMPLETION_H

#include "common/buffer.h"
#include "common/options.h"

#define PW_SHELLS "bash zsh fish"

/* The script for one of PW_SHELLS.  `ask` is how the program is asked: "pawl complete". */
void pw_completion_script(const char *shell, const char *program, const char *ask, struct pw_buffer *out);

/* A word, if it begins as `begun` does. */
void pw_offer(struct pw_buffer *out, const char *begun, const char *word, const char *meaning);
/* What the option takes as far as its table says, with `prefix` before each: "--output=". */
void pw_offer_values(struct pw_buffer *out, const char *begun, const char *prefix, const struct pw_option *option);
void pw_offer_options(struct pw_buffer *out, const char *begun, const struct pw_option *const *options);
/* The option that the word gives, if its value is in the next word. */
const struct pw_option *pw_option_awaiting(const struct pw_option *const *options, const char *word);

/* For a program that has options and takes files: what the last word may become. */
void pw_complete(struct pw_buffer *out, const struct pw_option *const *options, char **words, int count);

#endif
