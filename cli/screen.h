/* screen.h - where a command's output goes, and what it may look like there.
 *
 * Colour is for terminals only, and not with NO_COLOR or TERM=dumb, unless --color says otherwise.  The width is that of
 * COLUMNS, else the terminal's; what goes into a pipe or a file is not cut. */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

enum style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_YELLOW,
    STYLE_BLUE,
    STYLE_MAGENTA,
    STYLE_CYAN
};

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct screen {
    bool is_terminal;
    bool has_colour;
    bool has_utf8;
    size_t width;   /* 0: unlimited */
    int64_t now_ms; /* when the command began or last drew; relative times count from it */
};

struct screen screen_open(enum colour_choice choice);
/* Reads the width and the time again. */
void screen_refresh(struct screen *screen);

/* Appends the text in the style, if there is colour. */
void screen_put(const struct screen *screen, struct pw_buffer *out, enum style style, const char *text);
/* A dim line of its own. */
void screen_note(const struct screen *screen, struct pw_buffer *out, const char *line);
/* The style of a status or phase of an instance, a step or a delivery. */
enum style status_style(const char *status);
enum style level_style(const char *level);

/* Cuts the text to the columns, with a mark at the cut. */
const char *screen_cut(const struct screen *screen, struct pool *pool, const char *text, size_t columns);
/* Appends a line that may have colour in it, cut to the width. */
void screen_put_cut(const struct screen *screen, struct pw_buffer *out, const char *line);
/* "▇" or "#": what bars are made of. */
const char *screen_bar(const struct screen *screen);
const char *screen_dot(const struct screen *screen);

#endif
