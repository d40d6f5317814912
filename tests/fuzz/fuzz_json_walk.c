/* fuzz_json_walk.c - walking the parts of a JSON text that is not read.
 *
 * Of JSON: each part is JSON, they lie one behind the other in the text, and put together again they are the same value.
 * Of anything else the walk ends, and stays within the text. */
#include "fuzz.h"
#include "pawl/value.h"

static pawl_value *parse(pawl_scope *scope, const char *text, size_t size)
{
    pawl_value *value = NULL;
    pawl_status status = pawl_value_parse(scope, text, size, &value, NULL);
    assert(status == PAWL_OK);
    return value;
}

/* A text that grows. */
struct pw_buffer {
    char *data;
    size_t size;
};

static void append(struct pw_buffer *text, const char *data, size_t size)
{
    text->data = realloc(text->data, text->size + size + 1);
    assert(text->data != NULL);
    if (size > 0)
        memcpy(text->data + text->size, data, size);
    text->size += size;
}

static void check_part(pawl_scope *scope, const struct pawl_json_part *part, const char *from, const char *end,
                       bool is_object)
{
    assert((part->key != NULL) == is_object);
    assert(part->key == NULL || (part->key >= from && part->key + part->key_size <= part->text));
    assert(part->text >= from && part->size > 0 && part->text + part->size <= end);
    (void)parse(scope, part->text, part->size);
    if (is_object)
        assert(pawl_value_kind(parse(scope, part->key, part->key_size), NULL) == PAWL_KIND_STRING);
}

static void walk_json(pawl_scope *scope, const char *text, size_t size, const pawl_value *value)
{
    enum pawl_kind kind = pawl_value_kind(value, NULL);
    bool is_object = kind == PAWL_KIND_OBJECT;
    struct pw_buffer again = { NULL, 0 };
    struct pawl_json_part part;
    size_t position = 0, count = 0, before = 0;
    append(&again, is_object ? "{" : "[", 1);
    for (; pawl_json_next(text, size, &position, &part); before = position, count++) {
        assert(position > before && position <= size);
        check_part(scope, &part, text + before, text + size, is_object);
        append(&again, ",", count > 0);
        append(&again, part.key, is_object ? part.key_size : 0);
        append(&again, ":", is_object);
        append(&again, part.text, part.size);
    }
    append(&again, is_object ? "}" : "]", 1);
    if (is_object || kind == PAWL_KIND_ARRAY) {
        assert(count >= pawl_value_size(value, NULL)); /* more: a key stands there twice */
        assert(pawl_value_equal(parse(scope, again.data, again.size), value));
    } else {
        assert(count == 0);
    }
    free(again.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of just its size: a read behind it shows. */
    char *text = malloc(size > 0 ? size : 1);
    pawl_scope *scope = pawl_scope_new();
    pawl_value *value = NULL;
    struct pawl_json_part part;
    size_t position = 0, rounds = 0;
    assert(text != NULL && scope != NULL);
    memcpy(text, size > 0 ? (const char *)data : "", size);
    bool is_json = pawl_json_check(text, size, 0, NULL) == PAWL_OK;
    assert(is_json == (pawl_value_parse(scope, text, size, &value, NULL) == PAWL_OK));
    if (is_json)
        walk_json(scope, text, size, value);
    while (pawl_json_next(text, size, &position, &part)) {
        assert(part.text >= text && part.text + part.size <= text + size);
        assert(++rounds <= size && position <= size);
    }
    pawl_scope_free(scope);
    free(text);
    return 0;
}
