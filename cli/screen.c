/* screen.c - see screen.h. */
#define _GNU_SOURCE /* nl_langinfo() */
#include "screen.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "moment.h"

enum { WIDTH_MIN = 40, WIDTH_MAX = 4096, WIDTH_ASSUMED = 80 };

static bool wants_colour(enum colour_choice choice, bool is_terminal)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (choice != COLOUR_AUTO)
        return choice == COLOUR_ALWAYS;
    return is_terminal && (refused == NULL || refused[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static size_t find_width(bool is_terminal)
{
    const char *set = getenv("COLUMNS");
    struct winsize size = { 0 };
    long columns = set != NULL ? strtol(set, NULL, 10) : 0;
    if (columns <= 0 && is_terminal)
        columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH_ASSUMED;
    if (columns <= 0)
        return 0;
    return columns < WIDTH_MIN ? WIDTH_MIN : columns > WIDTH_MAX ? WIDTH_MAX : (size_t)columns;
}

struct screen screen_open(enum colour_choice choice)
{
    struct screen screen = { .is_terminal = isatty(STDOUT_FILENO) == 1 };
    screen.has_colour = wants_colour(choice, screen.is_terminal);
    screen.has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    screen_refresh(&screen);
    return screen;
}

void screen_refresh(struct screen *screen)
{
    screen->width = find_width(screen->is_terminal);
    screen->now_ms = moment_now_ms();
}

void screen_put(const struct screen *screen, struct pw_buffer *out, enum style style, const char *text)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "",    [STYLE_BOLD] = "1",  [STYLE_DIM] = "2",      [STYLE_RED] = "31",  [STYLE_GREEN] = "32",
        [STYLE_YELLOW] = "33", [STYLE_BLUE] = "34", [STYLE_MAGENTA] = "35", [STYLE_CYAN] = "36",
    };
    bool is_styled = screen->has_colour && style != STYLE_PLAIN && text[0] != '\0';
    if (is_styled)
        pw_buffer_format(out, "\033[%sm", codes[style]);
    pw_buffer_put(out, text);
    if (is_styled)
        pw_buffer_put(out, "\033[0m");
}

void screen_note(const struct screen *screen, struct pw_buffer *out, const char *line)
{
    screen_put(screen, out, STYLE_DIM, line);
    pw_buffer_put(out, "\n");
}

struct styled {
    const char *word;
    enum style style;
};

static enum style style_of(const struct styled *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].word, word) == 0)
            return list[i].style;
    return STYLE_PLAIN;
}

enum style status_style(const char *status)
{
    static const struct styled list[] = {
        { "active", STYLE_CYAN },          { "queued", STYLE_BLUE },     { "running", STYLE_CYAN },
        { "waiting", STYLE_YELLOW },       { "paused", STYLE_MAGENTA },  { "waitingForPause", STYLE_MAGENTA },
        { "complete", STYLE_GREEN },       { "completed", STYLE_GREEN }, { "errored", STYLE_RED },
        { "terminated", STYLE_DIM },       { "failed", STYLE_RED },      { "pending", STYLE_YELLOW },
        { "waitingForRepair", STYLE_RED },
    };
    return style_of(list, sizeof list / sizeof list[0], status);
}

enum style level_style(const char *level)
{
    static const struct styled list[] = {
        { "debug", STYLE_DIM }, { "info", STYLE_CYAN }, { "warn", STYLE_YELLOW }, { "error", STYLE_RED }
    };
    return style_of(list, sizeof list / sizeof list[0], level);
}

const char *screen_cut(const struct screen *screen, struct pool *pool, const char *text, size_t columns)
{
    if (text_width(text) <= columns)
        return text;
    const char *mark = screen->has_utf8 ? "…" : "...";
    size_t mark_width = screen->has_utf8 ? 1 : 3;
    if (columns <= mark_width)
        return pool_copy(pool, text, text_fit(text, columns));
    return pool_format(pool, "%.*s%s", (int)text_fit(text, columns - mark_width), text, mark);
}

void screen_put_cut(const struct screen *screen, struct pw_buffer *out, const char *line)
{
    size_t left = screen->width > 0 ? screen->width : (size_t)-1;
    struct pool pool = { NULL };
    while (*line != '\0') {
        size_t code = *line == '\033' ? strcspn(line, "m") + 1 : 0; /* takes no room, and must be whole */
        size_t plain = strcspn(line, "\033"), fits = text_fit(line, left);
        size_t size = code > 0 ? code : plain < fits ? plain : fits;
        pw_buffer_add(out, line, size);
        if (code == 0) {
            left -= text_width(pool_copy(&pool, line, size));
            line += plain; /* what did not fit is left out; the code behind it may end a colour */
        } else {
            line += size;
        }
    }
    pool_clear(&pool);
}

const char *screen_bar(const struct screen *screen)
{
    return screen->has_utf8 ? "▇" : "#";
}

const char *screen_dot(const struct screen *screen)
{
    return screen->has_utf8 ? "·" : ".";
}
