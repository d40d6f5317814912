/* picture.c - see picture.h. */
#include "picture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "session.h"

enum { ROWS_ASSUMED = 24 };

size_t terminal_rows(void)
{
    struct winsize size = { 0 };
    const char *set = getenv("LINES");
    long rows = set != NULL ? strtol(set, NULL, 10) : 0;
    if (rows > 1)
        return (size_t)rows;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : ROWS_ASSUMED;
}

void picture_clear(struct session *session)
{
    if (session->picture.rows > 0)
        pw_buffer_format(&session->out, "\033[%zuA", session->picture.rows);
    pw_buffer_put(&session->out, "\r\033[J");
    session->picture.rows = 0;
}

void picture_draw(struct session *session, const struct pw_buffer *drawing)
{
    const char *line = text_string(drawing);
    size_t rows = 0, room = terminal_rows() - 1;
    for (const char *at = line; *at != '\0'; at++)
        rows += *at == '\n';
    for (; rows > room; rows--)
        line = strchr(line, '\n') + 1;
    while (*line != '\0') {
        size_t size = strcspn(line, "\n");
        screen_put_cut(&session->screen, &session->out, pool_copy(&session->pool, line, size));
        pw_buffer_put(&session->out, "\n");
        line += size + (line[size] == '\n');
    }
    session->picture.rows = rows;
}
