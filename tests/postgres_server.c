/* postgres_server.c - see postgres_server.h.
 *
 * A guardian stands between the one who is served and the server.  It starts the server as its child, looks five times a
 * second whether the one it serves still lives, and stops the server when not, or when it is asked to.  Should it be
 * killed itself, the kernel tells the server. */
#include "postgres_server.h"

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READY_MS_MAX = 60000, LOOK_MS = 200, UNPRIVILEGED = 65534 };

static void pause_ms(long ms)
{
    struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* ---- Running the programs -------------------------------------------------------------------------------------- */

/* PostgreSQL refuses root. */
static void give_up_root(void)
{
    if (geteuid() == 0 && (setgid(UNPRIVILEGED) != 0 || setuid(UNPRIVILEGED) != 0))
        _exit(99);
}

/* Nobody shall wait for our output: ctest waits until it is closed. */
static void write_to(const char *path)
{
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int nothing = open("/dev/null", O_RDONLY);
    if (log < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(98);
}

static bool run_initdb(const char *folder)
{
    char data[128], log[128];
    int status = 0;
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    pid_t child = fork();
    if (child == 0) {
        give_up_root();
        write_to(log);
        execl(PAWL_TEST_POSTGRES_BIN "/initdb", "initdb", "--no-sync", "--auth=trust", "--username=pawl",
              "--encoding=UTF8", "--locale=C", "-D", data, (char *)NULL);
        _exit(97);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static pid_t start_postgres(const char *folder, bool durable)
{
    char data[128], log[128];
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    pid_t child = fork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        give_up_root();
        (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
        write_to(log);
        execl(PAWL_TEST_POSTGRES_BIN "/postgres", "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c",
              durable ? "fsync=on" : "fsync=off", "-c", durable ? "full_page_writes=on" : "full_page_writes=off", "-c",
              "max_connections=300", "-c", "shared_buffers=64MB", "-c", "max_wal_size=256MB", "-c",
              "log_min_messages=warning", (char *)NULL);
        _exit(97);
    }
    return child;
}

static bool is_ready(const char *folder)
{
    const char *names[] = { "host", "user", "dbname", NULL };
    const char *values[] = { folder, "pawl", "postgres", NULL };
    return PQpingParams(names, values, 0) == PQPING_OK;
}

static void remove_folder(const char *folder)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/rm", "rm", "-rf", folder, (char *)NULL);
        _exit(97);
    }
    if (child > 0)
        (void)waitpid(child, &status, 0);
}

/* ---- The guardian ---------------------------------------------------------------------------------------------- */

static bool is_gone(pid_t process)
{
    return kill(process, 0) != 0 && errno == ESRCH;
}

/* SIGTERM is blocked, and waited for. */
static void guard(const char *folder, pid_t served, bool durable, int ready)
{
    sigset_t told;
    struct timespec patience = { .tv_sec = 0, .tv_nsec = LOOK_MS * 1000000L };
    int status = 0;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &told, NULL);
    (void)setsid();
    pid_t postgres = start_postgres(folder, durable);
    int waited = 0;
    while (postgres > 0 && waited < READY_MS_MAX && !is_ready(folder) && waitpid(postgres, &status, WNOHANG) == 0) {
        pause_ms(20);
        waited += 20;
    }
    if (postgres > 0 && is_ready(folder))
        (void)!write(ready, "x", 1);
    (void)close(ready);
    write_to("/dev/null");
    while (postgres > 0 && !is_gone(served) && sigtimedwait(&told, NULL, &patience) != SIGTERM &&
           waitpid(postgres, &status, WNOHANG) == 0)
        continue;
    if (postgres > 0 && kill(postgres, SIGQUIT) == 0)
        (void)waitpid(postgres, &status, 0);
    remove_folder(folder);
    _exit(0);
}

static bool make_folder(char *folder, size_t size)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, size, "%s/pawl-postgres-XXXXXX", parent != NULL && strlen(parent) < 40 ? parent : P_tmpdir);
    if (mkdtemp(folder) == NULL)
        return false;
    return geteuid() != 0 || (chown(folder, UNPRIVILEGED, UNPRIVILEGED) == 0 && chmod(folder, 0755) == 0);
}

bool postgres_server_start(struct postgres_server *server, pid_t served, bool durable)
{
    int ready[2];
    char byte = 0;
    if (!make_folder(server->folder, sizeof server->folder) || !run_initdb(server->folder) || pipe(ready) != 0) {
        fprintf(stderr, "no PostgreSQL for tests in %s: see its log\n", server->folder);
        return false;
    }
    server->guardian = fork();
    if (server->guardian == 0) {
        (void)close(ready[0]);
        guard(server->folder, served, durable, ready[1]);
    }
    (void)close(ready[1]);
    bool fine = server->guardian > 0 && read(ready[0], &byte, 1) == 1;
    (void)close(ready[0]);
    if (!fine)
        fprintf(stderr, "PostgreSQL does not start in %s\n", server->folder);
    return fine;
}

void postgres_server_stop(const struct postgres_server *server)
{
    if (server->guardian <= 0 || kill(server->guardian, SIGTERM) != 0)
        return;
    int status = 0;
    if (waitpid(server->guardian, &status, 0) == server->guardian)
        return;
    while (!is_gone(server->guardian)) /* not our child */
        pause_ms(20);
}

/* ---- For this program -------------------------------------------------------------------------------------------- */

static struct postgres_server own;

static void stop_own(void)
{
    postgres_server_stop(&own);
}

/* Children that are forked by tests leave by _exit, and so do not come here. */
const char *postgres_server_socket(void)
{
    static char shared[128];
    const char *note = getenv("PAWL_TEST_POSTGRES");
    if (shared[0] == '\0' && note != NULL) {
        FILE *file = fopen(note, "r");
        if (file != NULL && fgets(shared, sizeof shared, file) != NULL)
            shared[strcspn(shared, "\n")] = '\0';
        if (file != NULL)
            (void)fclose(file);
        if (shared[0] != '\0' && !is_ready(shared))
            shared[0] = '\0'; /* a note of a server that is gone */
    }
    if (shared[0] != '\0')
        return shared;
    if (own.guardian == 0) {
        if (!postgres_server_start(&own, getpid(), false))
            return NULL;
        (void)atexit(stop_own);
    }
    return own.folder;
}
