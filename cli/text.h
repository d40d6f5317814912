/* text.h - text that grows, and text of strangers made safe to show.
 *
 * Names, messages and payloads come from workflows and from whoever may create instances.  Whatever of them is shown to
 * people goes through text_put_safe(): a control character, which could move a terminal's cursor or worse, is shown as
 * \x1b is, and bytes that are no UTF-8 are shown the same way. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "pool.h"

struct text {
    char *data; /* ends with a NUL once something was put; see text_string() */
    size_t size, room;
};

void text_put(struct text *text, const char *more);
void text_put_size(struct text *text, const char *more, size_t size);
void text_put_safe(struct text *text, const char *more); /* on one line */
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_repeat(struct text *text, const char *more, size_t times);
const char *text_string(const struct text *text); /* "" when nothing was put; borrowed until it grows */
void text_reset(struct text *text);               /* empty, with its room kept */
void text_free(struct text *text);

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
