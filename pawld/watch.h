/* watch.h - notices changed source files.  It watches their folders, because many editors write a new file and
 * rename it. */
#ifndef PAWLD_WATCH_H
#define PAWLD_WATCH_H

#include "settings.h"

/* Returns a descriptor to poll, or -1 with errno set.  It watches the files and the headers beside them. */
int watch_open(const struct pw_texts *files);

/* Call it when the descriptor is readable.  Returns true if a file changed.  Editors write several times, so it
 * first waits until nothing has changed for a moment. */
bool watch_changed(int descriptor, const struct pw_texts *files);

#endif
