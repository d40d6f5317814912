/* budget.c - counts held memory with atomics and no lock, and reads how much memory the machine or the cgroup has;
 * see budget.h. */
#include "base/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARE = 4, LINE_SIZE = 4096, PATH_SIZE = 8192 };

/* ---- Holding ------------------------------------------------------------------------------------------------------ */

void pw_budget_init(struct pw_budget *budget, int64_t max)
{
    budget->max = max != 0 ? max : pw_memory_of_machine("") / SHARE;
    atomic_init(&budget->held, 0);
    atomic_init(&budget->refused, 0);
    atomic_init(&budget->wanted, 0);
}

bool pw_budget_hold(struct pw_budget *budget, int64_t *held, int64_t bytes)
{
    int64_t more = bytes - *held, all = atomic_load(&budget->held);
    if (more <= 0) {
        pw_budget_owe(budget, held, bytes);
        return true;
    }
    do {
        bool is_alone = all == *held;
        if (!is_alone && all > budget->max - more) {
            atomic_fetch_add(&budget->refused, 1);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&budget->held, &all, all + more));
    *held = bytes;
    return true;
}

void pw_budget_owe(struct pw_budget *budget, int64_t *held, int64_t bytes)
{
    if (bytes != *held)
        atomic_fetch_add(&budget->held, bytes - *held);
    *held = bytes;
}

void pw_budget_want(struct pw_budget *budget, int64_t bytes)
{
    int64_t wanted = atomic_load(&budget->wanted);
    while (wanted < bytes && !atomic_compare_exchange_weak(&budget->wanted, &wanted, bytes))
        ;
}

bool pw_budget_is_short(struct pw_budget *budget)
{
    int64_t wanted = atomic_load(&budget->wanted), all = atomic_load(&budget->held);
    if (wanted == 0)
        return false;
    if (all > 0 && all > budget->max - wanted)
        return true;
    (void)atomic_compare_exchange_strong(&budget->wanted, &wanted, 0);
    return false;
}

/* ---- The machine's memory ------------------------------------------------------------------------------------------ */

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* The number in a file.  INT64_MAX: there is no such file, or it sets no limit ("max"). */
static int64_t read_limit(const char *path)
{
    char line[64];
    long long limit = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return INT64_MAX;
    if (fgets(line, sizeof line, file) != NULL)
        limit = strtoll(line, NULL, 10); /* a number that is too large becomes the largest there is: no limit */
    (void)fclose(file);
    return limit > 0 ? limit : INT64_MAX;
}

/* The smallest limit of a group and of all groups that contain it. */
static int64_t limit_of_group(const char *root, const char *mount, const char *group, const char *file)
{
    char path[PATH_SIZE], name[LINE_SIZE];
    int64_t limit = INT64_MAX;
    (void)snprintf(name, sizeof name, "%s", group);
    for (;;) {
        (void)snprintf(path, sizeof path, "%s%s%s/%s", root, mount, name, file);
        limit = least(limit, read_limit(path));
        char *slash = strrchr(name, '/');
        if (slash == NULL)
            return limit;
        *slash = '\0';
    }
}

/* A line is "0::/path" in version 2, and "4:memory:/path" in version 1. */
static int64_t limit_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return INT64_MAX;
    *controllers++ = '\0';
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[0] == '\0')
        return limit_of_group(root, "/sys/fs/cgroup", group, "memory.max");
    if (strcmp(controllers, "memory") == 0)
        return limit_of_group(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    return INT64_MAX;
}

int64_t pw_memory_of_machine(const char *root)
{
    char path[PATH_SIZE], line[LINE_SIZE];
    int64_t limit = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        limit = least(limit, limit_of_line(root, line));
    if (file != NULL)
        (void)fclose(file);
    return limit;
}
