/* fuzz_url.c - store URLs.  Only the parser: nothing is opened.  What it accepts has a path, and options within bounds;
 * what it refuses it names. */
#include <limits.h>

#include "fuzz.h"
#include "store/sqlite/url.h"
#include "store/store.h"

/* pw_store_open() of another scheme must refuse without touching anything. */
static void check_other_scheme(const char *url)
{
    struct pawl_error error = { PAWL_OK, "" };
    struct pawl_clock clock = { .now_ms = NULL, .user = NULL };
    struct pw_store *store = NULL;
    static const char *const known[] = { "sqlite:", "postgres://", "postgresql://" };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(url, known[i], strlen(known[i])) == 0)
            return;
    assert(pw_store_open(url, clock, &store, &error) == PAWL_INVALID);
    assert(store == NULL && error.status == PAWL_INVALID && error.text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char scheme[] = "sqlite:";
    struct fuzz_input input = fuzz_input_of(data, size);
    char *rest = fuzz_string(fuzz_rest(&input));
    char *url = malloc(strlen(rest) + sizeof scheme);
    struct pw_arena arena = { 0 };
    struct pw_sqlite_url parsed = { 0 };
    struct pawl_error error = { PAWL_OK, "" };
    assert(url != NULL);
    check_other_scheme(rest);
    memcpy(url, scheme, sizeof scheme - 1);
    memcpy(url + sizeof scheme - 1, rest, strlen(rest) + 1);

    pawl_status status = pw_sqlite_url_parse(url, &arena, &parsed, &error);
    if (status == PAWL_OK) {
        assert(parsed.path[0] != '\0' && strchr(parsed.path, '?') == NULL);
        assert(parsed.in_memory == (strcmp(parsed.path, ":memory:") == 0));
        assert(parsed.busy_ms >= 0 && parsed.busy_ms <= INT_MAX);
    } else {
        assert(status == PAWL_INVALID && error.text[0] != '\0' && parsed.path == NULL);
    }
    pw_arena_clear(&arena);
    free(url);
    free(rest);
    return 0;
}
