/* picture.h - what a command draws in place on a terminal, again and again.
 *
 * Drawing moves the cursor up over the last drawing and clears the rest of the screen.  Lines are cut to the width, so that
 * each takes one row; if a picture is higher than the terminal, only its end is drawn. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include <stddef.h>

struct session;
struct pw_buffer;

struct picture {
    size_t rows; /* drawn, and above the cursor */
};

size_t terminal_rows(void);
/* Appends to session->out what removes the last drawing.  What is printed next takes its place, and stays. */
void picture_clear(struct session *session);
void picture_draw(struct session *session, const struct pw_buffer *drawing);

#endif
