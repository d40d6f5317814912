/* text.h - makes untrusted text safe to show, and measures it.
 *
 * Names, messages and payloads come from workflows and from everybody who may create instances.  Before they are shown to
 * people, text_put_safe() escapes control characters, which could move a terminal's cursor or worse, and bytes that are not
 * UTF-8, as in \x1b. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buffer.h"
#include "pool.h"

void text_put_safe(struct pw_buffer *text, const char *more); /* on one line */
/* "" when nothing was put; borrowed until it grows.  Ends the program if memory ran out while the text was made. */
const char *text_string(const struct pw_buffer *text);
/* Moves the text into the pool, and clears the buffer. */
const char *text_keep(struct pool *pool, struct pw_buffer *text);

/* The safe form of a text, in the pool. */
const char *safe(struct pool *pool, const char *text);

/* Removes the remains of characters that were cut, by a full buffer or by "%.60s". */
void text_mend(char *text);
/* Its width in columns of a terminal. */
size_t text_width(const char *text);
/* How many bytes of it fit into the columns. */
size_t text_fit(const char *text, size_t columns);

bool text_starts(const char *text, const char *start);

#endif
