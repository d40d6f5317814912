/* suggest.h - finds the word that the user probably meant. */
#ifndef PW_COMMON_SUGGEST_H
#define PW_COMMON_SUGGEST_H

#include <stddef.h>

/* The candidate that is most similar to the word; NULL: none is similar enough. */
const char *pw_suggest(const char *word, const char *const *candidates, size_t count);

#endif
