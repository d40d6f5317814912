/* suggest.h - words that are nearly right. */
#ifndef PW_COMMON_SUGGEST_H
#define PW_COMMON_SUGGEST_H

#include <stddef.h>

/* Which of the candidates is most like the word; NULL: none is much like it. */
const char *pw_suggest(const char *word, const char *const *candidates, size_t count);

#endif
