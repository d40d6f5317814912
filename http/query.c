/* query.c - see query.h. */
#include "http/query.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "http/answer.h"

enum { WORDS_SIZE = 160 };

/* Writes "a, b, c", cut off if it is long. */
static const char *listed(const char *const *words, char out_text[WORDS_SIZE])
{
    size_t size = 0;
    out_text[0] = '\0';
    for (; words != NULL && *words != NULL && size < WORDS_SIZE; words++) {
        int added = snprintf(out_text + size, WORDS_SIZE - size, "%s%s", size > 0 ? ", " : "", *words);
        size += added > 0 ? (size_t)added : 0;
    }
    return out_text;
}

static bool contains(const char *const *words, const char *word)
{
    for (; words != NULL && *words != NULL; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}

void pw_http_query_check(pawl_http_call *call, const char *const *keys)
{
    char text[WORDS_SIZE];
    for (size_t i = 0; i < call->target.pair_count; i++) {
        const struct pw_http_pair *pair = &call->target.pairs[i];
        if (!contains(keys, pair->key) && keys == NULL)
            pw_http_issue(call, pair->key, "there is no such query parameter: this route takes none");
        else if (!contains(keys, pair->key))
            pw_http_issue(call, pair->key, "there is no such query parameter; this route takes %s", listed(keys, text));
        else if (pw_http_query(call, pair->key) != pair->value)
            pw_http_issue(call, pair->key, "is given more than once");
        else if (pair->value[0] == '\0')
            pw_http_issue(call, pair->key, "is empty; give it a value, or leave it out");
    }
}

const char *pw_http_query(const pawl_http_call *call, const char *key)
{
    for (size_t i = 0; i < call->target.pair_count; i++)
        if (strcmp(call->target.pairs[i].key, key) == 0)
            return call->target.pairs[i].value;
    return NULL;
}

/* Accepts digits with an optional '-' before them. */
static bool parse_integer(const char *text, int64_t *out_number)
{
    bool is_negative = *text == '-';
    int64_t number = 0;
    text += is_negative;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        int digit = is_negative ? '0' - *text : *text - '0';
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, digit, &number))
            return false;
    }
    *out_number = number;
    return true;
}

bool pw_http_query_integer(pawl_http_call *call, const char *key, int64_t min, int64_t max, int64_t *out_number)
{
    const char *text = pw_http_query(call, key);
    int64_t number = 0;
    if (text == NULL)
        return false;
    if (parse_integer(text, &number) && number >= min && number <= max) {
        *out_number = number;
        return true;
    }
    if (max == INT64_MAX)
        pw_http_issue(call, key, "\"%.40s\" is not a whole number of at least %lld", text, (long long)min);
    else
        pw_http_issue(call, key, "\"%.40s\" is not a whole number from %lld to %lld", text, (long long)min,
                      (long long)max);
    return false;
}

bool pw_http_query_word(pawl_http_call *call, const char *key, const char *const *words, size_t *out_position)
{
    const char *text = pw_http_query(call, key);
    char all[WORDS_SIZE];
    if (text == NULL)
        return false;
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *out_position = i;
            return true;
        }
    }
    pw_http_issue(call, key, "\"%.40s\" is not one of %s", text, listed(words, all));
    return false;
}

void pw_http_query_page_size(pawl_http_call *call, int32_t *out_size)
{
    int64_t size;
    if (pw_http_query_integer(call, "pageSize", 1, PW_PAGE_SIZE_MAX, &size))
        *out_size = (int32_t)size;
}

void pw_http_query_order(pawl_http_call *call, enum pawl_order *out_order)
{
    static const char *const words[] = { "asc", "desc", NULL };
    size_t position;
    if (pw_http_query_word(call, "order", words, &position))
        *out_order = position == 0 ? PAWL_OLDEST_FIRST : PAWL_NEWEST_FIRST;
}
