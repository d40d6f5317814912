/* fuzz_damage.c - a database file with bytes changed, or cut off.  Each line is "offset value" in hexadecimal, or
 * "-size", which cuts the file there.
 *
 * Opening it, and everything asked of it afterwards, gives an answer or an error. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz_store.h"

enum { ROUNDS_MAX = 4, CHANGES_MAX = 64 };

struct scratch {
    char folder[64], path[96], url[160];
    uint8_t *bytes; /* of the undamaged file */
    size_t size;
};

static void remove_files(const struct scratch *scratch)
{
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal", "-runners" };
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s%s", scratch->path, suffixes[i]);
        (void)unlink(path);
    }
}

static void read_bytes(struct scratch *scratch)
{
    FILE *file = fopen(scratch->path, "rb");
    assert(file != NULL);
    (void)fseek(file, 0, SEEK_END);
    scratch->size = (size_t)ftell(file);
    rewind(file);
    scratch->bytes = malloc(scratch->size);
    assert(scratch->bytes != NULL && fread(scratch->bytes, 1, scratch->size, file) == scratch->size);
    (void)fclose(file);
}

/* In memory, where there is a file system for that: a commit is then free. */
static void make_scratch(struct scratch *scratch)
{
    struct fuzz_store store;
    const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(scratch->folder, sizeof scratch->folder, "%s/pawl-fuzz-XXXXXX", parent);
    const char *folder = mkdtemp(scratch->folder);
    assert(folder != NULL);
    (void)snprintf(scratch->path, sizeof scratch->path, "%s/store.db", scratch->folder);
    (void)snprintf(scratch->url, sizeof scratch->url, "sqlite:%s?synchronous=normal&busy_ms=0", scratch->path);
    pawl_status status = fuzz_store_open(&store, scratch->url);
    assert(status == PAWL_OK);
    fuzz_store_populate(&store);
    fuzz_store_close(&store);
    read_bytes(scratch);
    remove_files(scratch);
    (void)rmdir(scratch->folder);
}

static void damage(uint8_t *bytes, size_t *size, struct pw_text line)
{
    char *text = fuzz_string(line), *end = NULL;
    if (text[0] == '-') {
        size_t cut = strtoul(text + 1, NULL, 16);
        *size = cut < *size ? cut : *size;
    } else {
        size_t offset = strtoul(text, &end, 16);
        if (*size > 0)
            bytes[offset % *size] = (uint8_t)strtoul(end, NULL, 16);
    }
    free(text);
}

static void write_damaged(const struct scratch *scratch, struct fuzz_input *input)
{
    uint8_t *bytes = malloc(scratch->size);
    size_t size = scratch->size;
    assert(bytes != NULL);
    memcpy(bytes, scratch->bytes, size);
    for (int changes = 0; input->left > 0 && changes < CHANGES_MAX; changes++)
        damage(bytes, &size, fuzz_line(input));
    FILE *file = fopen(scratch->path, "wb");
    assert(file != NULL && fwrite(bytes, 1, size, file) == size);
    (void)fclose(file);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scratch scratch;
    struct fuzz_input input = fuzz_input_of(data, size);
    struct fuzz_store store;
    if (scratch.bytes == NULL)
        make_scratch(&scratch);
    int code = mkdir(scratch.folder, 0700);
    assert(code == 0);
    write_damaged(&scratch, &input);
    if (fuzz_store_open(&store, scratch.url) == PAWL_OK) {
        fuzz_store_read_all(&store);
        (void)fuzz_store_run(&store, ROUNDS_MAX);
        fuzz_store_read_all(&store);
        fuzz_store_close(&store);
    }
    remove_files(&scratch);
    (void)rmdir(scratch.folder);
    return 0;
}
