/* event_reader.h - parses server-sent events from bytes that may be split anywhere. */
#ifndef CLI_EVENT_READER_H
#define CLI_EVENT_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum { EVENT_ID_SIZE = 4096, EVENT_NAME_SIZE = 64 };

struct event_reader {
    struct pw_buffer line, data;
    char id[EVENT_ID_SIZE], name[EVENT_NAME_SIZE];
    long retry_ms; /* as the server asked; 0: it did not */
    /* Called for each event that has data.  False stops the reader. */
    bool (*event)(void *user, const struct event_reader *reader);
    void *user;
    bool has_enough;
};

/* False: event() returned false, or a line is too long for a Pawl server. */
bool event_reader_feed(struct event_reader *reader, const char *bytes, size_t size);
/* Drops a partly read event: the next bytes come from a new connection, which sends it again. */
void event_reader_reset(struct event_reader *reader);
void event_reader_free(struct event_reader *reader);

#endif
