/* suggest.c - see suggest.h.  The distance of two words is the number of letters to insert, delete, change
 * or swap with a neighbour. */
#include "common/suggest.h"

#include <string.h>

enum { WORD_SIZE_MAX = 48 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *left, const char *right)
{
    size_t rows[3][WORD_SIZE_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2], right_size = strlen(right);
    for (size_t j = 0; j <= right_size; j++)
        above[j] = j;
    for (size_t i = 0; left[i] != '\0'; i++) {
        row[0] = i + 1;
        for (size_t j = 0; j < right_size; j++) {
            row[j + 1] = least(least(row[j], above[j + 1]) + 1, above[j] + (left[i] != right[j]));
            if (i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j])
                row[j + 1] = least(row[j + 1], before[j - 1] + 1);
        }
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[right_size];
}

const char *pw_suggest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t size = strlen(word), best = 0;
    if (size > WORD_SIZE_MAX)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_size = strlen(candidates[i]);
        if (candidate_size > WORD_SIZE_MAX)
            continue;
        /* The beginning of a word always matches it. */
        size_t apart = size > 1 && strncmp(candidates[i], word, size) == 0 ? 0 : distance(word, candidates[i]);
        /* "instnces" is near enough to "instances"; "x" is near to nothing. */
        size_t most = (size > candidate_size ? size : candidate_size) / 3 + 1;
        if (apart <= most && apart < candidate_size && (nearest == NULL || apart < best)) {
            best = apart;
            nearest = candidates[i];
        }
    }
    return nearest;
}
