/* shim.c - see shim.h. */
#include "shim.h"

#include <stddef.h>

#include "plan.h"

struct shim_file {
    sqlite3_file base;
    const char *path;
    sqlite3_file *real; /* behind this struct, in the same block */
};

static sqlite3_vfs *plain;
static shim_hook_fn *hook;
static void *hook_user;

/* True: the call is to be made. */
static bool ask(struct shim_call *call)
{
    if (hook != NULL)
        hook(call, hook_user);
    return !call->skip;
}

static int settle(const struct shim_call *call, int made)
{
    return call->answer != SQLITE_OK ? call->answer : made;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct shim_file *)file)->real;
}

static const char *path_of(sqlite3_file *file)
{
    return ((struct shim_file *)file)->path;
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

static int file_close(sqlite3_file *file)
{
    struct shim_call call = { .op = SHIM_CLOSE, .path = path_of(file) };
    (void)ask(&call); /* always made: the descriptor is ours */
    return settle(&call, real_of(file)->pMethods->xClose(real_of(file)));
}

static int file_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset)
{
    struct shim_call call = { .op = SHIM_READ, .path = path_of(file), .size = size, .offset = offset };
    return settle(&call, ask(&call) ? real_of(file)->pMethods->xRead(real_of(file), data, size, offset) : SQLITE_OK);
}

static int file_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
    struct shim_call call = { .op = SHIM_WRITE, .path = path_of(file), .data = data, .size = size, .offset = offset };
    int made = SQLITE_OK;
    if (ask(&call) && call.size > 0)
        made = real_of(file)->pMethods->xWrite(real_of(file), data, call.size, offset);
    return settle(&call, made);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct shim_call call = { .op = SHIM_TRUNCATE, .path = path_of(file), .offset = size };
    return settle(&call, ask(&call) ? real_of(file)->pMethods->xTruncate(real_of(file), size) : SQLITE_OK);
}

static int file_sync(sqlite3_file *file, int flags)
{
    struct shim_call call = { .op = SHIM_SYNC, .path = path_of(file), .flags = flags };
    return settle(&call, ask(&call) ? real_of(file)->pMethods->xSync(real_of(file), flags) : SQLITE_OK);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *out_size)
{
    struct shim_call call = { .op = SHIM_SIZE, .path = path_of(file) };
    return settle(&call, ask(&call) ? real_of(file)->pMethods->xFileSize(real_of(file), out_size) : SQLITE_OK);
}

static int file_lock(sqlite3_file *file, int level)
{
    struct shim_call call = { .op = SHIM_LOCK, .path = path_of(file), .flags = level };
    return settle(&call, ask(&call) ? real_of(file)->pMethods->xLock(real_of(file), level) : SQLITE_OK);
}

static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_check_reserved_lock(sqlite3_file *file, int *out_locked)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out_locked);
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

/* ---- Shared memory ---------------------------------------------------------------------------------------------------- */

static int shm_map(sqlite3_file *file, int page, int page_size, int extend, void volatile **out_memory)
{
    struct shim_call call = { .op = SHIM_SHM_MAP, .path = path_of(file), .flags = extend };
    int made = SQLITE_OK;
    if (ask(&call))
        made = real_of(file)->pMethods->xShmMap(real_of(file), page, page_size, extend, out_memory);
    else
        *out_memory = NULL;
    return settle(&call, made);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    struct shim_call call = { .op = SHIM_SHM_LOCK, .path = path_of(file), .flags = flags };
    if ((flags & SQLITE_SHM_UNLOCK) != 0) /* letting go cannot fail, and SQLite does not look */
        return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
    return settle(&call,
                  ask(&call) ? real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags) : SQLITE_OK);
}

static void shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shm_unmap(sqlite3_file *file, int delete)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), delete);
}

static const sqlite3_io_methods shim_methods = {
    .iVersion = 2, /* with shared memory, without memory-mapped files */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

/* ---- The VFS ------------------------------------------------------------------------------------------------------------ */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    (void)vfs;
    struct shim_file *shim = (struct shim_file *)file;
    struct shim_call call = { .op = SHIM_OPEN, .path = name, .flags = flags };
    shim->base.pMethods = NULL; /* not to be closed unless it was opened */
    shim->path = name;
    shim->real = (sqlite3_file *)(shim + 1);
    if (!ask(&call))
        return settle(&call, SQLITE_CANTOPEN);
    int made = plain->xOpen(plain, name, shim->real, flags, out_flags);
    if (made == SQLITE_OK)
        shim->base.pMethods = &shim_methods;
    return settle(&call, made);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    (void)vfs;
    struct shim_call call = { .op = SHIM_DELETE, .path = name, .flags = sync_directory };
    return settle(&call, ask(&call) ? plain->xDelete(plain, name, 0) : SQLITE_OK);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out_result)
{
    (void)vfs;
    struct shim_call call = { .op = SHIM_ACCESS, .path = name, .flags = flags };
    *out_result = 0;
    return settle(&call, ask(&call) ? plain->xAccess(plain, name, flags, out_result) : SQLITE_OK);
}

/* SQLite waits for locks by itself, too; a test does not. */
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

bool shim_install(void)
{
    static sqlite3_vfs shim;
    plain = sqlite3_vfs_find(NULL);
    if (plain == NULL)
        return false;
    shim = *plain; /* time, chance and paths are the plain one's: its functions do not look at the pointer they get */
    shim.iVersion = 1;
    shim.pNext = NULL;
    shim.zName = "shim";
    shim.szOsFile = (int)sizeof(struct shim_file) + plain->szOsFile;
    shim.xOpen = vfs_open;
    shim.xDelete = vfs_delete;
    shim.xAccess = vfs_access;
    shim.xSleep = vfs_sleep;
    return sqlite3_vfs_register(&shim, 1) == SQLITE_OK;
}

void shim_set_hook(shim_hook_fn *given, void *user)
{
    hook = given;
    hook_user = user;
}

const char *shim_plain_vfs_name(void)
{
    return plain->zName;
}

/* ---- The plan as a hook ------------------------------------------------------------------------------------------- */

static void refuse(struct shim_call *call, enum fault_kind kind, int answer)
{
    if (!fault_strikes(kind))
        return;
    call->skip = true;
    call->answer = answer;
}

/* A write that ends half-way, as a full disk makes it. */
static void cut(struct shim_call *call, enum fault_kind kind, int answer)
{
    if (!fault_strikes(kind))
        return;
    call->size /= 2;
    call->answer = answer;
}

static void fail_write(struct shim_call *call)
{
    refuse(call, FAULT_IO_WRITE, SQLITE_IOERR_WRITE);
    cut(call, FAULT_IO_SHORT, SQLITE_IOERR_WRITE);
    cut(call, FAULT_IO_FULL, SQLITE_FULL);
}

void fault_io(struct shim_call *call, void *user)
{
    (void)user;
    switch (call->op) {
    case SHIM_OPEN:
        refuse(call, FAULT_IO_OPEN, SQLITE_CANTOPEN);
        break;
    case SHIM_CLOSE:
        break;
    case SHIM_READ:
        refuse(call, FAULT_IO_READ, SQLITE_IOERR_READ);
        break;
    case SHIM_WRITE:
        fail_write(call);
        break;
    case SHIM_TRUNCATE:
        refuse(call, FAULT_IO_TRUNCATE, SQLITE_IOERR_TRUNCATE);
        break;
    case SHIM_SYNC:
        call->skip = true;
        refuse(call, FAULT_IO_SYNC, SQLITE_IOERR_FSYNC);
        break;
    case SHIM_SIZE:
        refuse(call, FAULT_IO_SIZE, SQLITE_IOERR_FSTAT);
        break;
    case SHIM_LOCK:
        refuse(call, FAULT_IO_LOCK, SQLITE_IOERR_LOCK);
        refuse(call, FAULT_IO_BUSY, SQLITE_BUSY);
        break;
    case SHIM_SHM_MAP:
        refuse(call, FAULT_IO_SHM_MAP, SQLITE_IOERR_SHMMAP);
        break;
    case SHIM_SHM_LOCK:
        refuse(call, FAULT_IO_SHM_LOCK, SQLITE_IOERR_SHMLOCK);
        refuse(call, FAULT_IO_BUSY, SQLITE_BUSY);
        break;
    case SHIM_DELETE:
        refuse(call, FAULT_IO_DELETE, SQLITE_IOERR_DELETE);
        break;
    case SHIM_ACCESS:
        refuse(call, FAULT_IO_ACCESS, SQLITE_IOERR_ACCESS);
        break;
    }
}
