/* fuzz_cli_json.c - JSON as the command-line tool checks, reads, writes and lays it out.  What Jansson takes, it takes; what
 * it takes stays JSON, and the same, however it is laid out; and what it read it writes so that it reads the same again. */
#include <jansson.h>

#include "cli/json_output.h"
#include "cli/json_syntax.h"
#include "fuzz.h"

static struct text laid_out(const char *text, size_t size, size_t indent)
{
    struct text out = { NULL, 0, 0 };
    json_lay_out(&out, text, size, indent);
    return out;
}

static void check_layout(const char *text, size_t size)
{
    struct json_mistake mistake;
    struct text line = laid_out(text, size, 0), page = laid_out(text, size, 2);
    struct text again = laid_out(text_string(&page), page.size, 0);
    assert(json_check(text_string(&line), line.size, &mistake) && json_check(text_string(&page), page.size, &mistake));
    assert(strcmp(text_string(&line), text_string(&again)) == 0);
    text_free(&line);
    text_free(&page);
    text_free(&again);
}

static void check_items(const char *text, size_t size)
{
    size_t at = 0, from, item;
    struct json_mistake mistake;
    while (json_next_item(text, size, &at, &from, &item)) {
        assert(from + item <= size);
        char *copy = fuzz_string((struct pw_text){ text + from, item });
        assert(json_check(copy, item, &mistake));
        free(copy);
    }
}

static void check_value(const json_t *value)
{
    struct text first = { NULL, 0, 0 }, second = { NULL, 0, 0 };
    json_write(&first, value, 0);
    json_t *again = json_read(text_string(&first), first.size);
    assert(again != NULL);
    json_write(&second, again, 0);
    assert(strcmp(text_string(&first), text_string(&second)) == 0);
    json_decref(again);
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    char *text = fuzz_string(fuzz_rest(&input));
    size_t length = strlen(text);
    struct json_mistake mistake = { 0, NULL };
    json_t *known = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
    bool is_json = json_check(text, length, &mistake);
    assert(is_json || (mistake.position <= length && mistake.what != NULL));
    assert(known == NULL || is_json || strcmp(mistake.what, "this is too deep") == 0);
    json_t *value = json_read(text, length);
    if (value != NULL)
        check_value(value);
    assert(known == NULL || value != NULL);
    if (is_json) {
        check_layout(text, length);
        if (text[json_blanks(text, length)] == '[')
            check_items(text, length);
    }
    json_decref(known);
    json_decref(value);
    free(text);
    return 0;
}
