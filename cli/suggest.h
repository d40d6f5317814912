/* suggest.h - words that are nearly right. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/* Which of the candidates is most like the word; NULL: none is much like it. */
const char *suggest(const char *word, const char *const *candidates, size_t count);

#endif
