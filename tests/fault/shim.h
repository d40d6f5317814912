/* shim.h - a VFS around SQLite's own, which shows every call to a hook before it is made.
 *
 * The hook may let the call pass, have it made with fewer bytes, have it left out, and have something else answered.
 * Without a hook everything passes.  The shim becomes SQLite's default, so that the engine runs on it unknowingly. */
#ifndef FAULT_SHIM_H
#define FAULT_SHIM_H

#include <stdbool.h>

#include <sqlite3.h>

enum shim_op {
    SHIM_OPEN,
    SHIM_CLOSE,
    SHIM_READ,
    SHIM_WRITE,
    SHIM_TRUNCATE,
    SHIM_SYNC,
    SHIM_SIZE,
    SHIM_LOCK,
    SHIM_SHM_MAP,
    SHIM_SHM_LOCK,
    SHIM_DELETE,
    SHIM_ACCESS
};

struct shim_call {
    enum shim_op op;
    const char *path;     /* NULL: a file without a name */
    int flags;            /* OPEN: SQLITE_OPEN_...; DELETE: whether the directory is synced */
    const void *data;     /* WRITE */
    int size;             /* WRITE, READ; the hook may lower it */
    sqlite3_int64 offset; /* WRITE, READ; TRUNCATE: the new size */

    /* The hook's answer. */
    bool skip;  /* the call is not made */
    int answer; /* what SQLite is told; SQLITE_OK: what the call answered */
};

typedef void shim_hook_fn(struct shim_call *call, void *user);

bool shim_install(void);
void shim_set_hook(shim_hook_fn *hook, void *user);

/* The plan (plan.h) as a hook: calls fail as planned.  It also leaves out every real sync, because nothing here pulls the plug
 * and a sync takes longer than all the rest. */
shim_hook_fn fault_io;

/* SQLite's own VFS, for what must not pass the hook. */
const char *shim_plain_vfs_name(void);

#endif
