/* replay_main.c - runs a fuzz target over files and folders of inputs, for builds without libFuzzer: what the fuzzer
 * once found stays found, under every compiler and sanitizer. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        perror(path);
        return -1;
    }
    size_t size = (size_t)about.st_size;
    uint8_t *data = malloc(size > 0 ? size : 1);
    size_t read = data != NULL ? fread(data, 1, size, file) : 0;
    (void)fclose(file);
    if (data == NULL || read != size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        free(data);
        return -1;
    }
    printf("%s\n", path); /* the last line tells which input it was */
    (void)fflush(stdout);
    (void)LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 1;
}

/* How many inputs there were, or -1. */
static int replay(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    if (folder == NULL)
        return replay_file(path);
    for (struct dirent *entry = readdir(folder); entry != NULL && count >= 0; entry = readdir(folder)) {
        char inner[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        count = replay_file(inner) < 0 ? -1 : count + 1;
    }
    (void)closedir(folder);
    return count;
}

int main(int count, char **arguments)
{
    int replayed = 0;
    for (int position = 1; position < count; position++) {
        int here = replay(arguments[position]);
        if (here < 0)
            return 1;
        replayed += here;
    }
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
