/* io.c - see io.h. */
#include "io.h"

#include "plan.h"

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
