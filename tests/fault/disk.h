/* disk.h - a disk whose power can be cut.
 *
 * It watches SQLite's calls through the shim.  The real files hold what the program sees; beside them the disk remembers,
 * per file, what was there at its last sync, and every write and truncation since.  When the power is cut nothing gets
 * through any more, and the files become what a real disk might have kept: the synced content, with each later change
 * kept, dropped, or torn (its beginning kept, the rest dropped or garbled), by chance.
 *
 *  D1. What was synced is there.  What was not may be, in any selection.
 *  D2. A torn write damages nothing beside the bytes it was to write.
 *  D3. Names: a file that was never synced may be missing; a deletion that was not synced with its directory may not have
 *      happened, until the next sync of any file. */
#ifndef FAULT_DISK_H
#define FAULT_DISK_H

#include <stddef.h>
#include <stdint.h>

#include "shim.h"

enum { DISK_FILES_MAX = 4, DISK_PATH_MAX = 256 };

struct disk_change {
    struct disk_change *next;
    sqlite3_int64 offset; /* of a truncation: the new size */
    size_t size;
    unsigned char *data; /* NULL: a truncation */
};

struct disk_file {
    char path[DISK_PATH_MAX]; /* "": a free place */
    bool is_named;            /* durably in its directory */
    bool is_deleted;          /* but not durably */
    unsigned char *synced;
    size_t synced_size;
    struct disk_change *first, **end; /* since the last sync */
};

struct disk {
    struct disk_file files[DISK_FILES_MAX];
    uint64_t chance;
    int64_t writes, syncs;       /* so far; truncations count as writes */
    int64_t cut_write, cut_sync; /* at which the power goes; 0: not */
    bool is_dead;
    bool is_overfull; /* memory or places ran out: the trial says nothing */
};

void disk_init(struct disk *disk, uint64_t seed);
void disk_clear(struct disk *disk);

/* For shim_set_hook(), with the disk as user. */
shim_hook_fn disk_watch;

/* After the power was cut and everything was closed: makes the files what is left of them. */
bool disk_settle(struct disk *disk);

#endif
