/* disk.c - see disk.h. */
#include "disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t draw(struct disk *disk, uint64_t below)
{
    disk->chance = disk->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (disk->chance >> 33) % below;
}

void disk_init(struct disk *disk, uint64_t seed)
{
    *disk = (struct disk){ .chance = seed };
    (void)draw(disk, 2);
}

static void drop_changes(struct disk_file *file)
{
    while (file->first != NULL) {
        struct disk_change *change = file->first;
        file->first = change->next;
        free(change->data);
        free(change);
    }
    file->end = &file->first;
}

static void forget(struct disk_file *file)
{
    drop_changes(file);
    free(file->synced);
    *file = (struct disk_file){ .path = "" };
}

void disk_clear(struct disk *disk)
{
    for (size_t i = 0; i < DISK_FILES_MAX; i++)
        forget(&disk->files[i]);
}

/* ---- Content -------------------------------------------------------------------------------------------------------- */

static bool resize(unsigned char **content, size_t *size, size_t wanted)
{
    unsigned char *grown = realloc(*content, wanted + 1);
    if (grown == NULL)
        return false;
    if (wanted > *size)
        memset(grown + *size, 0, wanted - *size);
    *content = grown;
    *size = wanted;
    return true;
}

static bool put(unsigned char **content, size_t *size, const struct disk_change *change, size_t count)
{
    size_t offset = (size_t)change->offset;
    if (change->data == NULL)
        return resize(content, size, offset);
    if (offset + count > *size && !resize(content, size, offset + count))
        return false;
    if (count > 0)
        memcpy(*content + offset, change->data, count);
    return true;
}

/* What is on the real disk before the first change that is watched was there for long. */
static bool load(struct disk_file *file)
{
    unsigned char buffer[4096];
    int real = open(file->path, O_RDONLY);
    if (real < 0)
        return true;
    file->is_named = true;
    ssize_t count;
    while ((count = read(real, buffer, sizeof buffer)) > 0) {
        size_t at = file->synced_size;
        if (!resize(&file->synced, &file->synced_size, at + (size_t)count))
            break;
        memcpy(file->synced + at, buffer, (size_t)count);
    }
    (void)close(real);
    return count == 0;
}

static struct disk_file *find(struct disk *disk, const char *path)
{
    for (size_t i = 0; i < DISK_FILES_MAX; i++) {
        if (strcmp(disk->files[i].path, path) == 0)
            return &disk->files[i];
    }
    return NULL;
}

static struct disk_file *find_or_add(struct disk *disk, const char *path)
{
    struct disk_file *file = find(disk, path);
    if (file != NULL)
        return file;
    file = find(disk, "");
    if (file == NULL || strlen(path) >= DISK_PATH_MAX) {
        disk->is_overfull = true;
        return NULL;
    }
    memcpy(file->path, path, strlen(path) + 1);
    file->end = &file->first;
    disk->is_overfull |= !load(file);
    return file;
}

static void note_change(struct disk *disk, const char *path, const void *data, size_t size, sqlite3_int64 offset)
{
    struct disk_file *file = find_or_add(disk, path);
    struct disk_change *change = calloc(1, sizeof *change);
    unsigned char *copy = data != NULL ? malloc(size + 1) : NULL;
    if (file == NULL || change == NULL || (data != NULL && copy == NULL)) {
        free(change);
        free(copy);
        disk->is_overfull = true;
        return;
    }
    if (copy != NULL)
        memcpy(copy, data, size);
    *change = (struct disk_change){ .offset = offset, .size = size, .data = copy };
    *file->end = change;
    file->end = &change->next;
}

/* ---- What SQLite asks for ---------------------------------------------------------------------------------------------- */

static void refuse(struct shim_call *call)
{
    call->skip = true;
    call->answer = call->op == SHIM_OPEN ? SQLITE_CANTOPEN : SQLITE_IOERR;
}

static void note_open(struct disk *disk, const char *path)
{
    struct disk_file *file = find_or_add(disk, path);
    if (file != NULL && file->is_deleted) { /* made anew under the old name */
        file->is_deleted = false;
        note_change(disk, path, NULL, 0, 0);
    }
}

static void note_delete(struct disk *disk, const char *path, bool synced)
{
    struct disk_file *file = find(disk, path);
    if (file == NULL)
        return;
    file->is_deleted = true;
    if (synced || !file->is_named)
        forget(file);
}

static void note_sync(struct disk *disk, const char *path)
{
    struct disk_file *synced = find_or_add(disk, path);
    for (struct disk_change *change = synced != NULL ? synced->first : NULL; change != NULL; change = change->next)
        disk->is_overfull |= !put(&synced->synced, &synced->synced_size, change, change->size);
    if (synced != NULL) {
        drop_changes(synced);
        synced->is_named = true;
    }
    for (size_t i = 0; i < DISK_FILES_MAX; i++) {
        if (disk->files[i].is_deleted)
            forget(&disk->files[i]);
    }
}

static void watch_change(struct disk *disk, struct shim_call *call)
{
    note_change(disk, call->path, call->data, (size_t)call->size, call->offset);
    if (++disk->writes != disk->cut_write)
        return;
    disk->is_dead = true;
    refuse(call);
}

static void watch_sync(struct disk *disk, struct shim_call *call)
{
    if (++disk->syncs == disk->cut_sync) {
        disk->is_dead = true;
        refuse(call);
        return;
    }
    note_sync(disk, call->path);
    call->skip = true; /* nobody really pulls the plug */
}

void disk_watch(struct shim_call *call, void *user)
{
    struct disk *disk = user;
    if (call->op == SHIM_CLOSE || call->path == NULL)
        return;
    if (disk->is_dead) {
        refuse(call);
        return;
    }
    if (call->op == SHIM_OPEN && (call->flags & SQLITE_OPEN_CREATE) != 0)
        note_open(disk, call->path);
    else if (call->op == SHIM_WRITE || call->op == SHIM_TRUNCATE)
        watch_change(disk, call);
    else if (call->op == SHIM_SYNC)
        watch_sync(disk, call);
    else if (call->op == SHIM_DELETE)
        note_delete(disk, call->path, call->flags != 0);
}

/* ---- After the cut -------------------------------------------------------------------------------------------------------- */

/* Kept, dropped or torn. */
static bool keep_by_chance(struct disk *disk, struct disk_file *file, struct disk_change *change)
{
    uint64_t fate = draw(disk, 4);
    if (fate == 0)
        return true;
    if (fate == 1 || change->data == NULL)
        return put(&file->synced, &file->synced_size, change, change->size);
    size_t kept = change->size > 0 ? (size_t)draw(disk, change->size) : 0;
    if (fate == 2)
        return put(&file->synced, &file->synced_size, change, kept);
    for (size_t i = kept; i < change->size; i++)
        change->data[i] = (unsigned char)draw(disk, 256);
    return put(&file->synced, &file->synced_size, change, change->size);
}

static bool write_file(const struct disk_file *file)
{
    int real = open(file->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    bool written = real >= 0 && write(real, file->synced, file->synced_size) == (ssize_t)file->synced_size;
    if (real >= 0)
        (void)close(real);
    return written;
}

static bool settle_file(struct disk *disk, struct disk_file *file)
{
    bool ok = true;
    if ((file->is_deleted || !file->is_named) && draw(disk, 2) == 0) {
        (void)unlink(file->path);
        return true;
    }
    for (struct disk_change *change = file->first; change != NULL; change = change->next)
        ok = keep_by_chance(disk, file, change) && ok;
    return ok && (file->synced != NULL || resize(&file->synced, &file->synced_size, 0)) && write_file(file);
}

bool disk_settle(struct disk *disk)
{
    bool ok = !disk->is_overfull;
    for (size_t i = 0; i < DISK_FILES_MAX; i++) {
        if (disk->files[i].path[0] != '\0')
            ok = settle_file(disk, &disk->files[i]) && ok;
    }
    return ok;
}
