/* fuzz_cli_json.c - JSON as the command-line tool checks, reads, writes and lays it out.  What Jansson takes, it takes; what
 * it takes stays JSON, and the same, however it is laid out; and what it read it writes so that it reads the same again. */
#include <jansson.h>

#include "cli/json_output.h"
#include "common/json.h"
#include "fuzz.h"

static struct pw_buffer laid_out(const char *text, size_t size, size_t indent)
{
    struct pw_buffer out = { 0 };
    json_lay_out(&out, text, size, indent);
    return out;
}

/* At any depth, and numbers of any size: as a server may send it. */
static bool is_json(const char *text, size_t size)
{
    json_t *value = json_read(text, size);
    json_decref(value);
    return value != NULL;
}

static void check_layout(const char *text, size_t size)
{
    struct pw_buffer line = laid_out(text, size, 0), page = laid_out(text, size, 2);
    struct pw_buffer again = laid_out(text_string(&page), page.size, 0);
    assert(is_json(text_string(&line), line.size) && is_json(text_string(&page), page.size));
    assert(strcmp(text_string(&line), text_string(&again)) == 0);
    pw_buffer_clear(&line);
    pw_buffer_clear(&page);
    pw_buffer_clear(&again);
}

static void check_items(struct pw_text text)
{
    struct pw_json_part part;
    size_t at = 0;
    while (pw_json_next(text, &at, &part)) {
        assert(part.value.data >= text.data && part.value.data + part.value.size <= text.data + text.size);
        assert(part.key.data == NULL && is_json(part.value.data, part.value.size));
    }
}

static void check_value(const json_t *value)
{
    struct pw_buffer first = { 0 }, second = { 0 };
    json_write(&first, value, 0);
    json_t *again = json_read(text_string(&first), first.size);
    assert(again != NULL);
    json_write(&second, again, 0);
    assert(strcmp(text_string(&first), text_string(&second)) == 0);
    json_decref(again);
    pw_buffer_clear(&first);
    pw_buffer_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    char *text = fuzz_string(fuzz_rest(&input));
    size_t length = strlen(text);
    struct pw_json_flaw flaw = { NULL, false, 0, 0, 0 };
    json_t *known = json_loadb(text, length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    json_t *value = json_read(text, length);
    bool is_taken = pw_json_scan(pw_text_of(text), &flaw);
    assert(is_taken || (flaw.position <= length && flaw.what != NULL));
    assert(!is_taken || value != NULL);
    assert(known == NULL || is_taken || flaw.is_limit);
    assert(known == NULL || value != NULL);
    if (value != NULL) {
        check_value(value);
        check_layout(text, length);
        if (text[pw_json_blanks(pw_text_of(text))] == '[')
            check_items(pw_text_of(text));
    }
    json_decref(known);
    json_decref(value);
    free(text);
    return 0;
}
