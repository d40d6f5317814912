/* fuzz_cli_events.c - what the command-line tool reads of a stream.  First byte: the size of the pieces; the rest: what a
 * server sent.  However the bytes are cut, the events are the same. */
#include "cli/event_reader.h"
#include "fuzz.h"

struct told {
    uint64_t digest;
    size_t count;
};

static uint64_t mix(uint64_t digest, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return (digest ^ size) * UINT64_C(1099511628211);
}

static bool tell(void *user, const struct event_reader *reader)
{
    struct told *told = user;
    assert(reader->data.size > 0);
    assert(strlen(reader->id) < EVENT_ID_SIZE && strlen(reader->name) < EVENT_NAME_SIZE);
    told->digest = mix(told->digest, reader->id, strlen(reader->id));
    told->digest = mix(told->digest, reader->name, strlen(reader->name));
    told->digest = mix(told->digest, text_string(&reader->data), reader->data.size);
    return ++told->count < 100;
}

static struct told read_in_pieces(struct pw_text bytes, size_t piece)
{
    struct told told = { 0 };
    struct event_reader reader = { .event = tell, .user = &told };
    bool wants_more = true;
    for (size_t at = 0; at < bytes.size && wants_more; at += piece) {
        char *copy =
            fuzz_string((struct pw_text){ bytes.data + at, bytes.size - at < piece ? bytes.size - at : piece });
        wants_more = event_reader_feed(&reader, copy, bytes.size - at < piece ? bytes.size - at : piece);
        free(copy);
    }
    assert(wants_more == (told.count < 100));
    event_reader_free(&reader);
    return told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    size_t piece = fuzz_choice(&input, 32) + 1;
    struct pw_text bytes = fuzz_rest(&input);
    struct told whole = read_in_pieces(bytes, bytes.size + 1), cut = read_in_pieces(bytes, piece);
    assert(whole.count == cut.count && whole.digest == cut.digest);
    return 0;
}
