/* powerloss.c - the power goes at the nth write or sync of the disk; and write-ahead logs with torn tails.
 *
 * With synchronous=full everything that was acknowledged is there afterwards.  With synchronous=normal the database is
 * whole, and what is missing are the last commits, each wholly.  Then the run goes on to its right end.
 * PAWL_FAULT_SEED=n plays one power cut; PAWL_FAULT_CASES=n plays so many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "disk.h"
#include "plan.h"
#include "scenarios.h"

enum {
    CASES = FAULT_SLOWLY ? 60 : 500,
    TAILS = FAULT_SLOWLY ? 40 : 250,
    FILE_BYTES_MAX = 1 << 21,
    VIOLATIONS_SHOWN = 10
};

static const char *const played[] = { "order",    "fan",      "batch",    "open",    "hooks",    "call",
                                      "children", "attached", "deferred", "outside", "interrupt" };
enum { PLAYED = sizeof played / sizeof played[0] };

struct known_end {
    const struct scenario *scenario;
    char signature[WORLD_SIGNATURE];
    int64_t writes[2], syncs[2]; /* with synchronous=full and normal */
};

static uint64_t mix(uint64_t seed)
{
    seed = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    seed = (seed ^ (seed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return seed ^ (seed >> 27);
}

/* ---- A play that may end in the dark --------------------------------------------------------------------------------- */

/* As somebody with a SQL prompt, or another program, does at any time. */
static void checkpoint(struct world *world, uint64_t how)
{
    static const char *const modes[] = { "PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(RESTART)",
                                         "PRAGMA wal_checkpoint(TRUNCATE)" };
    sqlite3 *db = NULL;
    if (sqlite3_open(world->path, &db) == SQLITE_OK)
        (void)sqlite3_exec(db, modes[how % 3], NULL, NULL, NULL);
    (void)sqlite3_close(db);
}

static void play_until_dark(struct world *world, struct disk *disk, const struct scenario *scenario, uint64_t seed)
{
    struct pawl_error error;
    shim_set_hook(disk_watch, disk);
    for (size_t i = 0; i < SCENARIO_ACTS_MAX && scenario->acts[i] != NULL && !disk->is_dead; i++) {
        pawl_status status = scenario->acts[i](world, &error);
        if (status != PAWL_OK && !disk->is_dead)
            ledger_violate(world->ledger, "fails while the power is on: %s", error.text);
        if (!disk->is_dead && mix(seed + i) % 3 == 0)
            checkpoint(world, mix(seed * 31 + i));
    }
    world_close(world);
    shim_set_hook(fault_io, NULL); /* nothing is armed: it only leaves the real syncs out */
}

static void count_calls(struct world *world, struct known_end *known)
{
    for (int normal = 0; normal < 2; normal++) {
        struct disk disk;
        world->synchronous = normal ? "normal" : "full";
        play_begin(world, known->scenario);
        disk_init(&disk, 0);
        play_until_dark(world, &disk, known->scenario, 1);
        known->writes[normal] = disk.writes;
        known->syncs[normal] = disk.syncs;
        disk_clear(&disk);
    }
}

static void prepare(struct world *world, struct known_end *known)
{
    for (size_t i = 0; i < PLAYED; i++) {
        known[i].scenario = scenario_find(played[i]);
        assert_non_null(known[i].scenario);
        play_expect(world, known[i].scenario, known[i].signature);
        count_calls(world, &known[i]);
        if (world->ledger->violation[0] != '\0')
            fail_msg("%s: %s", played[i], world->ledger->violation);
    }
}

/* ---- After the cut ------------------------------------------------------------------------------------------------------- */

/* Only the last commits may be missing, and none by half.  Returns how much is. */
static size_t check_suffix(struct world *world)
{
    struct ledger *ledger = world->ledger;
    bool beyond;
    size_t held = world_entries_held(world, &beyond);
    if (beyond)
        ledger_violate(ledger, "a commit is gone, and a later one is there");
    if (held > 0 && held < ledger->count && ledger->entries[held - 1].commit == ledger->entries[held].commit)
        ledger_violate(ledger, "half a commit is there");
    size_t lost = ledger->count - held;
    ledger_cut(ledger, held);
    return lost;
}

static bool has_tables(const struct world *world)
{
    sqlite3 *db = world_open_plainly(world);
    sqlite3_stmt *statement = NULL;
    bool has = sqlite3_prepare_v2(db, "SELECT 1 FROM workflow_step", -1, &statement, NULL) == SQLITE_OK;
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return has;
}

/* Returns how much was lost, as it may be with synchronous=normal. */
static size_t go_on(struct world *world, const struct known_end *known)
{
    static char signature[WORLD_SIGNATURE];
    size_t lost = 0;
    char shared_memory[96];
    snprintf(shared_memory, sizeof shared_memory, "%s-shm", world->path);
    (void)unlink(shared_memory);
    bool full = strcmp(world->synchronous, "full") == 0;
    if (!full && has_tables(world))
        lost = check_suffix(world);
    else if (full && world->ledger->count > 0)
        world_check(world);
    play_act(world, world_open, "cannot be opened after the power cut");
    if (world->engine == NULL)
        return lost;
    world->now_ms += 1000;
    play_acts(world, known->scenario, 0, "does not go on after the power cut");
    play_end(world, signature);
    play_compare(world, known->signature, signature);
    return lost;
}

/* One power cut; false: the power stayed on. */
static bool cut(struct world *world, const struct known_end *known, uint64_t seed, size_t *lost)
{
    struct disk disk;
    int normal = mix(seed) % 3 == 0;
    world->synchronous = normal ? "normal" : "full";
    play_begin(world, known->scenario);
    disk_init(&disk, seed);
    if (mix(seed + 77) % 3 == 0)
        disk.cut_sync = 1 + (int64_t)(mix(seed + 78) % (uint64_t)(known->syncs[normal] + 1));
    else
        disk.cut_write = 1 + (int64_t)(mix(seed + 79) % (uint64_t)(known->writes[normal] + 1));
    play_until_dark(world, &disk, known->scenario, seed);
    bool dark = disk.is_dead;
    if (dark && !disk_settle(&disk))
        ledger_violate(world->ledger, "the test's disk is too small");
    disk_clear(&disk);
    if (dark)
        *lost += go_on(world, known);
    return dark;
}

static int judge(const struct world *world, const char *what, uint64_t number, int shown)
{
    if (world->ledger->violation[0] == '\0')
        return 0;
    if (shown < VIOLATIONS_SHOWN)
        printf("%s %llu (synchronous=%s): %s\n", what, (unsigned long long)number, world->synchronous,
               world->ledger->violation);
    return 1;
}

static void a_power_cut_takes_nothing_that_was_acknowledged_as_synced(void **state)
{
    static struct known_end known[PLAYED];
    const char *one = getenv("PAWL_FAULT_SEED"), *many = getenv("PAWL_FAULT_CASES");
    uint64_t first = one != NULL ? strtoull(one, NULL, 10) : 0;
    uint64_t count = one != NULL ? 1 : many != NULL ? strtoull(many, NULL, 10) : CASES;
    int violations = 0, cuts = 0;
    size_t lost = 0;
    struct world world;
    (void)state;
    assert_true(world_init(&world, "power"));
    prepare(&world, known);
    for (uint64_t seed = first; seed < first + count; seed++) {
        cuts += cut(&world, &known[seed % PLAYED], seed, &lost);
        violations += judge(&world, "PAWL_FAULT_SEED", seed, violations);
    }
    world_clear(&world);
    printf("%d power cuts; with synchronous=normal %zu entries of the ledger were lost\n", cuts, lost);
    assert_int_equal(violations, 0);
    if (one == NULL)
        assert_true(cuts * 2 > (int)count && lost > 0); /* otherwise this disk keeps everything, and proves nothing */
}

/* ---- Torn tails ------------------------------------------------------------------------------------------------------------ */

struct image {
    unsigned char bytes[FILE_BYTES_MAX];
    size_t size;
};

static void read_image(const char *path, struct image *image)
{
    int file = open(path, O_RDONLY);
    ssize_t size = file >= 0 ? read(file, image->bytes, FILE_BYTES_MAX) : -1;
    if (file >= 0)
        (void)close(file);
    assert_true(size >= 0 && size < FILE_BYTES_MAX);
    image->size = (size_t)size;
}

static void write_image(const char *path, const struct image *image)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(file >= 0);
    assert_int_equal(write(file, image->bytes, image->size), (ssize_t)image->size);
    (void)close(file);
}

static void note_log_end(void *user, int64_t nth)
{
    struct world *world = user;
    struct stat about;
    char path[96];
    snprintf(path, sizeof path, "%s-wal", world->path);
    if (nth < LEDGER_COMMITS_MAX && stat(path, &about) == 0)
        world->ledger->log_ends[nth] = about.st_size;
}

/* A process plays all but the end, and dies without closing anything. */
static void leave_a_log_behind(struct world *world, const struct scenario *scenario)
{
    int status;
    play_begin(world, scenario);
    world_close(world);
    world->store.after_commit = note_log_end;
    world->store.user = world;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        play_act(world, world_open, "cannot be opened");
        for (size_t i = 0; i < 4; i++)
            play_act(world, scenario->acts[i], "fails in the process that dies");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(world->ledger->violation, "");
    world->store.after_commit = NULL;
}

/* Cuts off or garbles the last `size` bytes. */
static void damage(struct image *log, size_t size, uint64_t seed)
{
    size_t from = log->size - size;
    if (seed % 2 == 0) {
        log->size = from;
        return;
    }
    for (size_t i = from; i < log->size; i++) {
        if (i == from || mix(seed + i) % 4 == 0)
            log->bytes[i] ^= (unsigned char)(1 + mix(seed + i) % 255);
    }
}

/* What was in the log before the damage is there. */
static void check_before(struct world *world, size_t damaged_from)
{
    struct ledger *ledger = world->ledger;
    size_t expected = 0;
    bool beyond;
    while (expected < ledger->count && ledger->log_ends[ledger->entries[expected].commit] <= (int64_t)damaged_from)
        expected++;
    size_t held = world_entries_held(world, &beyond);
    if (held < expected)
        ledger_violate(ledger, "%zu entries were in the log before its damage, %zu are there", expected, held);
}

static void a_torn_tail_of_the_log_takes_only_whole_commits_from_the_end(void **state)
{
    static struct known_end known[PLAYED];
    static struct image database, log, torn;
    static struct ledger told;
    char log_path[96];
    struct world world;
    int violations = 0;
    size_t lost = 0;
    (void)state;
    assert_true(world_init(&world, "torn"));
    prepare(&world, known);
    world.synchronous = "full";
    snprintf(log_path, sizeof log_path, "%s-wal", world.path);
    leave_a_log_behind(&world, known[0].scenario);
    read_image(world.path, &database);
    read_image(log_path, &log);
    memcpy(&told, world.ledger, sizeof told);
    assert_true(log.size > 0 && told.count > 5);
    int64_t left_at_ms = world.now_ms + 600000;
    for (uint64_t i = 0; i < TAILS; i++) {
        size_t size = i < TAILS / 4 ? (size_t)i * 13 + 1 : 1 + (size_t)(mix(i) % log.size);
        memcpy(world.ledger, &told, sizeof told);
        torn = log;
        damage(&torn, size < log.size ? size : log.size, i);
        world_remove_files(&world);
        write_image(world.path, &database);
        write_image(log_path, &torn);
        world.now_ms = left_at_ms;
        world.synchronous = "full";
        check_before(&world, log.size - size);
        world.synchronous = "normal"; /* the tail may be missing, as after a power cut */
        lost += go_on(&world, &known[0]);
        violations += judge(&world, "tail", i, violations);
    }
    world_clear(&world);
    printf("%d torn tails; %zu entries of the ledger were lost\n", TAILS, lost);
    assert_int_equal(violations, 0);
    assert_true(lost > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_power_cut_takes_nothing_that_was_acknowledged_as_synced),
        cmocka_unit_test(a_torn_tail_of_the_log_takes_only_whole_commits_from_the_end),
    };
    if (!shim_install())
        return 2;
    shim_set_hook(fault_io, NULL);
    return cmocka_run_group_tests_name("powerloss", tests, NULL, NULL);
}
