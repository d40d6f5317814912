/* picture.h - what is drawn in place on a terminal, again and again.
 *
 * The cursor goes up over what was drawn last, and the rest of the screen is cleared.  Lines are cut to the width, so that
 * each takes one row; of a picture higher than the terminal only the end is drawn. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "screen.h"

struct picture {
    size_t rows; /* drawn, and above the cursor */
};

size_t terminal_rows(void);
/* Appends what takes the last drawing away; what is printed next stands in its place, and stays. */
void picture_clear(struct picture *picture, struct pw_buffer *out);
void picture_draw(struct picture *picture, const struct screen *screen, struct pw_buffer *out,
                  const struct pw_buffer *drawing);

#endif
