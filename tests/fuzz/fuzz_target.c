/* fuzz_target.c - a request's path and query from outside.  The first line is where the API is mounted, the rest the
 * target.
 *
 * What comes out is UTF-8, lies in the buffer, and means the same when it is written as a target again with everything
 * encoded; a segment that holds a slash is noted. */
#include <stdio.h>

#include "fuzz.h"
#include "http/target.h"
#include "common/text.h"

static void check_text(const char *text, const char *buffer, size_t room)
{
    assert(text >= buffer && text < buffer + room);
    const char *end = text + strlen(text);
    assert(end < buffer + room);
    while (text < end) {
        size_t size = pw_utf8_size(text, (size_t)(end - text));
        assert(size > 0);
        text += size;
    }
}

static size_t encode(char *out, const char *text)
{
    size_t size = 0;
    for (; *text != '\0'; text++)
        size += (size_t)sprintf(out + size, "%%%02X", (unsigned)(unsigned char)*text);
    return size;
}

/* "/%61/%62?%63=%64". */
static char *write_again(const struct pw_http_target *target, const char *mount, size_t room)
{
    char *text = malloc(room);
    assert(text != NULL);
    size_t size = (size_t)sprintf(text, "%s", mount);
    for (size_t i = 0; i < target->segment_count; i++) {
        text[size++] = '/';
        size += encode(text + size, target->segments[i]);
    }
    for (size_t i = 0; i < target->pair_count; i++) {
        text[size++] = i == 0 ? '?' : '&';
        size += encode(text + size, target->pairs[i].key);
        text[size++] = '=';
        size += encode(text + size, target->pairs[i].value);
    }
    text[size] = '\0';
    return text;
}

static void check_same(const struct pw_http_target *target, const char *mount, size_t room)
{
    char *text = write_again(target, mount, room), *buffer = malloc(strlen(text) + 1);
    struct pw_http_target again;
    assert(buffer != NULL);
    const char *wrong = pw_http_target_parse(text, mount, strlen(mount), buffer, &again);
    assert(wrong == NULL && again.segment_count == target->segment_count && again.pair_count == target->pair_count);
    for (size_t i = 0; i < again.segment_count; i++)
        assert(strcmp(again.segments[i], target->segments[i]) == 0);
    for (size_t i = 0; i < again.pair_count; i++)
        assert(strcmp(again.pairs[i].key, target->pairs[i].key) == 0 &&
               strcmp(again.pairs[i].value, target->pairs[i].value) == 0);
    free(buffer);
    free(text);
}

/* A mount is the host's, not the client's: one that the handler would take. */
static bool is_mount(const char *mount)
{
    size_t size = strlen(mount);
    return size == 0 || (mount[0] == '/' && mount[size - 1] != '/' && strpbrk(mount, "?#% ") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    char *mount = fuzz_string(fuzz_line(&input)), *text = fuzz_string(fuzz_rest(&input));
    size_t room = strlen(text) + 1;
    char *buffer = malloc(room);
    struct pw_http_target target;
    assert(buffer != NULL);
    if (!is_mount(mount))
        mount[0] = '\0';
    const char *wrong = pw_http_target_parse(text, mount, strlen(mount), buffer, &target);
    assert(wrong == NULL || wrong[0] != '\0');
    if (wrong == NULL) {
        assert((target.slashed_count > 0) == (target.slashed != NULL && strchr(target.slashed, '/') != NULL));
        for (size_t i = 0; i < target.segment_count; i++) {
            check_text(target.segments[i], buffer, room);
            assert(strchr(target.segments[i], '/') == NULL || target.slashed_count > 0);
        }
        for (size_t i = 0; i < target.pair_count; i++) {
            check_text(target.pairs[i].key, buffer, room);
            if (target.pairs[i].value[0] != '\0') /* where there is none, it is no part of the buffer */
                check_text(target.pairs[i].value, buffer, room);
        }
        if (target.segment_count > 0)
            check_same(&target, mount, strlen(mount) + 3 * room + 3 * PW_HTTP_PAIRS_MAX + 16);
    }
    free(buffer);
    free(text);
    free(mount);
    return 0;
}
