/* watch.c - see watch.h. */
#include "watch.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { QUIET_MS = 50 };

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

int watch_open(const struct pw_texts *files)
{
    int descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    for (size_t i = 0; descriptor >= 0 && i < files->count; i++) {
        char folder[4096];
        int size = (int)(name_of(files->items[i]) - files->items[i]);
        (void)snprintf(folder, sizeof folder, "%.*s", size, files->items[i]);
        if (inotify_add_watch(descriptor, size > 0 ? folder : ".", IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
            (void)close(descriptor);
            descriptor = -1;
        }
    }
    return descriptor;
}

static bool concerns(const char *name, const struct pw_texts *files)
{
    size_t size = strlen(name);
    if (size > 2 && strcmp(name + size - 2, ".h") == 0)
        return true;
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(name, name_of(files->items[i])) == 0)
            return true;
    }
    return false;
}

static bool read_events(int descriptor, const struct pw_texts *files)
{
    _Alignas(struct inotify_event) char buffer[4096];
    bool changed = false;
    ssize_t got;
    while ((got = read(descriptor, buffer, sizeof buffer)) > 0) {
        for (char *at = buffer; at < buffer + got;) {
            const struct inotify_event *event = (const void *)at;
            changed = changed || (event->len > 0 && concerns(event->name, files)) || (event->mask & IN_Q_OVERFLOW) != 0;
            at += sizeof *event + event->len;
        }
    }
    return changed;
}

bool watch_changed(int descriptor, const struct pw_texts *files)
{
    struct pollfd watched = { descriptor, POLLIN, 0 };
    bool changed = read_events(descriptor, files);
    while (changed && poll(&watched, 1, QUIET_MS) > 0)
        (void)read_events(descriptor, files);
    return changed;
}
