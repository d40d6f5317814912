/* picture.c - see picture.h. */
#include "picture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

void picture_clear(struct picture *picture, struct pw_buffer *out)
{
    if (picture->rows > 0)
        pw_buffer_format(out, "\033[%zuA", picture->rows);
    pw_buffer_put(out, "\r\033[J");
    picture->rows = 0;
}

void picture_draw(struct picture *picture, const struct screen *screen, struct pw_buffer *out,
                  const struct pw_buffer *drawing)
{
    const char *line = text_string(drawing);
    size_t rows = 0, room = terminal_rows() - 1;
    struct pool pool = { NULL };
    for (const char *at = line; *at != '\0'; at++)
        rows += *at == '\n';
    for (; rows > room; rows--)
        line = strchr(line, '\n') + 1;
    while (*line != '\0') {
        size_t size = strcspn(line, "\n");
        screen_put_cut(screen, out, pool_copy(&pool, line, size));
        pw_buffer_put(out, "\n");
        line += size + (line[size] == '\n');
    }
    pool_clear(&pool);
    picture->rows = rows;
}
