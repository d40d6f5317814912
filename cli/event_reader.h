/* event_reader.h - server-sent events out of bytes, however these are cut. */
#ifndef CLI_EVENT_READER_H
#define CLI_EVENT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum { EVENT_ID_SIZE = 4096, EVENT_NAME_SIZE = 64 };

struct event_reader {
    struct pw_buffer line, data;
    char id[EVENT_ID_SIZE], name[EVENT_NAME_SIZE];
    long retry_ms; /* as the server says; 0: it did not */
    /* Called for each event that has data; false: enough. */
    bool (*event)(void *user, const struct event_reader *reader);
    void *user;
    bool has_enough;
};

/* False: a line is too long to be one of ours, or event() has enough. */
bool event_reader_feed(struct event_reader *reader, const char *bytes, size_t size);
/* The next bytes are of another connection: what was read in part comes again. */
void event_reader_reset(struct event_reader *reader);
void event_reader_free(struct event_reader *reader);

#endif
