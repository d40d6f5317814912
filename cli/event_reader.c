/* event_reader.c - see event_reader.h. */
#include "event_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE_MAX = 1 << 28 };

static void take_line(struct event_reader *reader, const char *line)
{
    if (line[0] == '\0') {
        if (reader->data.size > 0 && !reader->event(reader->user, reader))
            reader->has_enough = true;
        pw_buffer_reset(&reader->data);
        reader->name[0] = reader->id[0] = '\0';
    } else if (text_starts(line, "id: ")) {
        (void)snprintf(reader->id, sizeof reader->id, "%s", line + 4);
    } else if (text_starts(line, "event: ")) {
        (void)snprintf(reader->name, sizeof reader->name, "%s", line + 7);
    } else if (text_starts(line, "data: ")) {
        pw_buffer_put(&reader->data, line + 6);
    } else if (text_starts(line, "retry: ")) {
        reader->retry_ms = strtol(line + 7, NULL, 10);
    }
}

bool event_reader_feed(struct event_reader *reader, const char *bytes, size_t size)
{
    while (size > 0 && !reader->has_enough) {
        const char *end = memchr(bytes, '\n', size);
        size_t part = end != NULL ? (size_t)(end - bytes) : size;
        pw_buffer_add(&reader->line, bytes, part);
        if (reader->line.size > LINE_SIZE_MAX)
            return false;
        if (end != NULL) {
            take_line(reader, text_string(&reader->line));
            pw_buffer_reset(&reader->line);
            part++;
        }
        bytes += part;
        size -= part;
    }
    return !reader->has_enough;
}

void event_reader_reset(struct event_reader *reader)
{
    pw_buffer_reset(&reader->line);
    pw_buffer_reset(&reader->data);
    reader->name[0] = reader->id[0] = '\0';
}

void event_reader_free(struct event_reader *reader)
{
    pw_buffer_clear(&reader->line);
    pw_buffer_clear(&reader->data);
}
