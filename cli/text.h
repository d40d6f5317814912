/* text.h - text of strangers made safe to show, and how wide it is.
 *
 * Names, messages and payloads come from workflows and from whoever may create instances.  Whatever of them is shown to
 * people goes through text_put_safe(): a control character, which could move a terminal's cursor or worse, is shown as
 * \x1b is, and bytes that are no UTF-8 are shown the same way. */
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

/* Takes out what is left of characters that were cut, as by a full buffer or by "%.60s". */
void text_mend(char *text);
/* How many columns of a terminal it takes. */
size_t text_width(const char *text);
/* How many bytes of it fit into so many columns. */
size_t text_fit(const char *text, size_t columns);

bool text_starts(const char *text, const char *start);

#endif
