/* parse.c - see parse.h.
 *
 * Jansson gathers each token in a buffer that grows; when that fails it leaves a byte of the token out, and says nothing.
 * So before a text with a long token it is given one of ours, as long as the longest: the buffer has its size when that one
 * comes out whole. */
#include "value/parse.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_THAT_FITS = 15 }; /* in the buffer that Jansson begins with */

static json_t *load(struct pw_text text)
{
    return json_loadb(text.data, text.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

/* No token of the text is longer, its quotes and escapes counted. */
static size_t longest_token(struct pw_text text)
{
    size_t longest = 0, begin = 0;
    bool is_string = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool is_end = c == '"' || (c == ',' && !is_string);
        if (is_end && i - begin + 1 > longest)
            longest = i - begin + 1;
        if (is_end)
            begin = i;
        is_string ^= c == '"';
        i += c == '\\';
    }
    return text.size - begin > longest ? text.size - begin : longest;
}

/* ["xxx...", text] */
static json_t *load_behind(struct pw_text text, size_t filling)
{
    size_t size = filling + text.size + sizeof "[\"\",]" - 1;
    char *whole = malloc(size), *at = whole;
    if (whole == NULL)
        return NULL;
    *at++ = '[';
    *at++ = '"';
    at = (char *)memset(at, 'x', filling) + filling;
    *at++ = '"';
    *at++ = ',';
    at = (char *)memcpy(at, text.data, text.size) + text.size;
    *at = ']';
    json_t *tree = load((struct pw_text){ whole, size });
    free(whole);
    return tree;
}

json_t *pw_json_parse(struct pw_text text)
{
    size_t longest = longest_token(text);
    if (longest <= TOKEN_THAT_FITS)
        return load(text);
    json_t *pair = load_behind(text, longest);
    bool is_whole = json_array_size(pair) == 2 && json_string_length(json_array_get(pair, 0)) == longest;
    json_t *tree = is_whole ? json_incref(json_array_get(pair, 1)) : NULL;
    json_decref(pair);
    return tree;
}
