/* watch.h - whether source files have changed.  It watches folders: many editors rename a new file. */
#ifndef PAWLD_WATCH_H
#define PAWLD_WATCH_H

#include "settings.h"

/* A descriptor to poll; -1: errno says why.  It tells of the files themselves, and of headers beside them. */
int watch_open(const struct pw_texts *files);

/* Whether one of them changed, when the descriptor can be read.  An editor writes several times: it reads on until
 * nothing more comes for a moment. */
bool watch_changed(int descriptor, const struct pw_texts *files);

#endif
