/* fuzz_value.c - JSON from outside.  The first line is a path, the rest the JSON text.
 *
 * The scanner and the parser agree on what JSON is, and the parser and Jansson on what it says; every reader answers for every path; what was written is read again
 * as the same value. */
#include "fuzz.h"
#include "common/json.h"
#include "value/value.h"

static void read_with_all(const pawl_value *value, const char *path)
{
    enum pawl_kind kind = pawl_value_kind(value, path);
    const pawl_value *at = pawl_value_at(value, path);
    assert((at == NULL) == (kind == PAWL_KIND_NONE));
    assert(pawl_value_kind(at, NULL) == kind);
    if (kind != PAWL_KIND_BOOL)
        assert(pawl_value_bool(value, path, true) && !pawl_value_bool(value, path, false));
    if (kind != PAWL_KIND_INT && kind != PAWL_KIND_REAL) {
        assert(pawl_value_int(value, path, 7) == 7);
        assert(pawl_value_real(value, path, 7) == 7);
    }
    const char *string = pawl_value_string(value, path, NULL);
    assert((string != NULL) == (kind == PAWL_KIND_STRING));
    assert(string == NULL || string[pawl_value_size(value, path)] == '\0');
    (void)pawl_value_int(value, path, 0);
    (void)pawl_value_real(value, path, 0);
}

/* Members are found by their keys, unless these have a meaning in paths. */
static void check_member(const pawl_value *object, const char *key, const pawl_value *item)
{
    assert(key != NULL);
    if (key[0] != '\0' && strpbrk(key, ".\\") == NULL)
        assert(pawl_value_equal(pawl_value_at(object, key), item));
}

static void walk(const pawl_value *value, const char *path)
{
    enum pawl_kind kind = pawl_value_kind(value, NULL);
    read_with_all(value, NULL);
    read_with_all(value, path);
    if (kind != PAWL_KIND_ARRAY && kind != PAWL_KIND_OBJECT)
        return;
    size_t size = pawl_value_size(value, NULL);
    assert(pawl_value_item(value, size) == NULL && pawl_value_key(value, size) == NULL);
    for (size_t i = 0; i < size; i++) {
        const pawl_value *item = pawl_value_item(value, i);
        assert(item != NULL);
        if (kind == PAWL_KIND_OBJECT)
            check_member(value, pawl_value_key(value, i), item);
        walk(item, path);
    }
}

/* Written from its tree, not from the text it was parsed from. */
static void check_round_trip(pawl_scope *scope, const pawl_value *value)
{
    pawl_value *packed = NULL, *again = NULL;
    const char *text = NULL;
    size_t size = 0;
    pawl_status status = pawl_value_pack(scope, &packed, "[V]", value);
    if (status == PAWL_INVALID_JSON)
        return; /* as deep as it may be already */
    assert(status == PAWL_OK);
    status = pawl_value_text(scope, packed, &text, &size);
    assert(status == PAWL_OK && text[size] == '\0');
    status = pawl_value_parse(scope, text, size, &again, NULL);
    assert(status == PAWL_OK);
    assert(pawl_value_equal(pawl_value_item(again, 0), value));
}

/* Of a text that is JSON. */
static void compare_with_jansson(struct pw_text json)
{
    json_t *ours = pw_json_parse(json);
    json_t *theirs = json_loadb(json.data, json.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert(ours != NULL && theirs != NULL && json_equal(ours, theirs));
    json_decref(ours);
    json_decref(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    char *path = fuzz_string(fuzz_line(&input));
    struct pw_text json = fuzz_rest(&input);
    struct pawl_error error = { PAWL_OK, "" };
    pawl_value *value = NULL;
    pawl_scope *scope = pawl_scope_new();
    assert(scope != NULL);

    pawl_status status = pawl_value_parse(scope, json.data, json.size, &value, &error);
    assert(status == pw_json_check(json, INT64_MAX, "text", NULL));
    assert(status == PAWL_OK || (status == PAWL_INVALID_JSON && error.text[0] != '\0'));
    if (status == PAWL_OK) {
        walk(value, path);
        compare_with_jansson(json);
        check_round_trip(scope, value);
    }
    assert(pw_scope_status(scope) == PAWL_OK);
    pawl_scope_free(scope);
    free(path);
    return 0;
}
