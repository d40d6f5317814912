/* json_syntax.h - JSON as text: whether it is JSON, and the same laid out anew.
 *
 * Nothing is decoded, so nothing changes: a number of any size, a name that is there twice and every escape stay as they
 * were written. */
#ifndef CLI_JSON_SYNTAX_H
#define CLI_JSON_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/* What is wrong, and where: the byte at which the text stops being JSON. */
struct json_mistake {
    size_t position;
    const char *what; /* "',' or '}' expected" */
};

/* One value, with blanks around it.  False: *out_mistake says why.  A NUL must stand behind the text. */
bool json_check(const char *text, size_t size, struct json_mistake *out_mistake);

/* Whether all of it is a number. */
bool json_number_token(const char *text, size_t size);

/* Of JSON: the size of the token that begins here, a string, a number, a word or a mark.  Blanks are none. */
size_t json_token_size(const char *text, size_t size);
/* How many blanks there are. */
size_t json_blanks(const char *text, size_t size);

/* Of JSON: the value without its blanks; indent 0: all on one line. */
void json_lay_out(struct text *out, const char *text, size_t size, size_t indent);

/* Of JSON that is a list: how far the next item goes, from where the one before ended; from the start, behind the [.
 * False: there is no more. */
bool json_next_item(const char *text, size_t size, size_t *at, size_t *out_from, size_t *out_size);

#endif
