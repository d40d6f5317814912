/* fuzz_pack.c - building values from formats.
 *
 * A format decides which arguments are read, so an arbitrary one must not meet arbitrary arguments.  The first line is a
 * format out of everything but the letters that take anything else than a string, and all arguments are strings.  The
 * rest is a tree: each byte chooses one of the formats below, whose values are in turn built from what follows. */
#include <math.h>

#include "fuzz.h"
#include "value/value.h"

enum { STRINGS_MAX = 24, DEPTH_MAX = 140 };

/* Comes out the same after being written and parsed. */
static void check_round_trip(pawl_scope *scope, const pawl_value *value)
{
    const char *text = NULL;
    size_t size = 0;
    pawl_value *again = NULL;
    pawl_status status = pawl_value_text(scope, value, &text, &size);
    assert(status == PAWL_OK);
    if (value == NULL) {
        assert(text == NULL && size == 0);
        return;
    }
    status = pawl_value_parse(scope, text, size, &again, NULL);
    assert(status == PAWL_OK && pawl_value_equal(again, value));
}

static void pack_strings(pawl_scope *scope, struct pw_text line)
{
    char *format = fuzz_string(line);
    size_t strings = 0;
    for (char *at = format; *at != '\0'; at++) {
        if (strchr("iIfbV", *at) != NULL)
            *at = 's';
        strings += *at == 's';
    }
    if (strings <= STRINGS_MAX) {
        pawl_value *value = NULL;
        pawl_status status =
            pawl_value_pack(scope, &value, format, "a", "b", "", "d.e", "\xc3\xa4", "f", "a", "h", "i", "j", "\xff",
                            "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x");
        assert(status == PAWL_OK || status == PAWL_INVALID);
        if (status == PAWL_OK)
            check_round_trip(scope, value);
    }
    free(format);
}

/* *out_value is NULL when the format has no value, or was refused for its depth. */
static void pack_tree(pawl_scope *scope, struct fuzz_input *input, int depth, pawl_value **out_value)
{
    static const double reals[] = { 0, -0.0, 0.1, 1e300, 5e-324, 1e17, INFINITY };
    pawl_value *first = NULL, *second = NULL;
    pawl_status status = PAWL_OK;
    size_t choice = depth < DEPTH_MAX ? fuzz_choice(input, 12) : 0;
    *out_value = NULL;
    if (choice >= 6)
        pack_tree(scope, input, depth + 1, &first);
    if (choice >= 9)
        pack_tree(scope, input, depth + 1, &second);
    switch (choice) {
    case 0:
        status = pawl_value_pack(scope, out_value, "n");
        break;
    case 1:
        status = pawl_value_pack(scope, out_value, "b", (int)fuzz_choice(input, 3));
        break;
    case 2:
        status = pawl_value_pack(scope, out_value, "i", (int)fuzz_choice(input, 256) - 128);
        break;
    case 3:
        status =
            pawl_value_pack(scope, out_value, "I", (long long)(fuzz_choice(input, 256) * UINT64_C(0x0101010101010101)));
        break;
    case 4:
        status = pawl_value_pack(scope, out_value, "f", reals[fuzz_choice(input, sizeof reals / sizeof reals[0])]);
        break;
    case 5:
        break;
    case 6:
        status = pawl_value_pack(scope, out_value, "V", first);
        break;
    case 7:
        status = pawl_value_pack(scope, out_value, "[V]", first);
        break;
    case 8:
        status = pawl_value_pack(scope, out_value, "{s:V}", "key", first);
        break;
    case 9:
        status = pawl_value_pack(scope, out_value, "[V, i, V]", first, 1, second);
        break;
    case 10:
        status = pawl_value_pack(scope, out_value, "{s:[V, s], s:{s:V}}", "a", first, "text", "b", "c", second);
        break;
    default:
        status = pawl_value_pack(scope, out_value, "{s:V, s:V}", "same", first, "same", second);
        break;
    }
    assert(status == PAWL_OK || status == PAWL_INVALID || status == PAWL_INVALID_JSON);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    pawl_value *value = NULL;
    pawl_scope *scope = pawl_scope_new();
    assert(scope != NULL);
    pack_strings(scope, fuzz_line(&input));
    if (input.left > 2048)
        input.left = 2048; /* two branches each: keep the writing of them short */
    pack_tree(scope, &input, 0, &value);
    check_round_trip(scope, value);
    assert(pw_scope_status(scope) == PAWL_OK);
    pawl_scope_free(scope);
    return 0;
}
