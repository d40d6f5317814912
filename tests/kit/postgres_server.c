/* postgres_server.c - see postgres_server.h.
 *
 * A guardian process stands between the served process and the server.  It starts the server as its child.  Five
 * times a second it checks whether the served process still lives.  It stops the server if that process is gone, or
 * on demand.  If the guardian itself is killed, the kernel signals the server.  The guardian takes its orders as
 * signals: SIGTERM ends it, the others are in orders[]. */
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

/* PostgreSQL does not run as root. */
static void give_up_root(void)
{
    if (geteuid() == 0 && (setgid(UNPRIVILEGED) != 0 || setuid(UNPRIVILEGED) != 0))
        _exit(99);
}

/* Detaches from standard output, because ctest waits until it is closed. */
static void write_to(const char *path)
{
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int nothing = open("/dev/null", O_RDONLY);
    if (log < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(98);
}

bool postgres_server_run(const struct postgres_server *server, const char *program, const char *const *arguments)
{
    char log[128];
    int status = 0;
    snprintf(log, sizeof log, "%s/log", server->folder);
    pid_t child = fork();
    if (child == 0) {
        give_up_root();
        write_to(log);
        execv(program, (char *const *)arguments);
        _exit(97);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool run_initdb(const struct postgres_server *server)
{
    char data[128];
    snprintf(data, sizeof data, "%s/data", server->folder);
    const char *words[] = {
        "initdb", "--no-sync", "--auth=trust", "--username=pawl", "--encoding=UTF8", "--locale=C", "-D", data, NULL
    };
    return postgres_server_run(server, PAWL_TEST_POSTGRES_BIN "/initdb", words);
}

static bool run_basebackup(const struct postgres_server *server, const struct postgres_server *primary)
{
    char data[128];
    snprintf(data, sizeof data, "%s/data", server->folder);
    const char *words[] = { "pg_basebackup",
                            "-h",
                            primary->folder,
                            "-U",
                            "pawl",
                            "-D",
                            data,
                            "--no-sync",
                            "-c",
                            "fast",
                            "-X",
                            "stream",
                            "--write-recovery-conf",
                            NULL };
    return postgres_server_run(server, PAWL_TEST_POSTGRES_BIN "/pg_basebackup", words);
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
              "max_connections=300", "-c", durable ? "shared_buffers=256MB" : "shared_buffers=64MB", "-c",
              durable ? "min_wal_size=1GB" : "min_wal_size=80MB", "-c",
              durable ? "max_wal_size=4GB" : "max_wal_size=256MB", "-c", "log_min_messages=warning", (char *)NULL);
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

/* The guardian's state: the postmaster, and the next order. */
struct guarded {
    const char *folder;
    bool durable;
    pid_t postgres; /* 0: it is down on order */
};

static const int orders[] = {
    [POSTGRES_SERVER_DOWN] = SIGUSR1, [POSTGRES_SERVER_DEAD] = SIGUSR2, [POSTGRES_SERVER_UP] = SIGHUP
};

static void end_postgres(struct guarded *guarded, int how)
{
    int status = 0;
    if (guarded->postgres > 0 && kill(guarded->postgres, how) == 0)
        (void)waitpid(guarded->postgres, &status, 0);
    guarded->postgres = 0;
}

/* Waits until the children and the shared memory of a killed postmaster are gone. */
static void begin_postgres(struct guarded *guarded)
{
    int status = 0;
    for (int waited = 0; waited < READY_MS_MAX && !is_ready(guarded->folder); waited += 20) {
        if (guarded->postgres <= 0 || waitpid(guarded->postgres, &status, WNOHANG) != 0)
            guarded->postgres = start_postgres(guarded->folder, guarded->durable);
        pause_ms(20);
    }
}

static void obey(struct guarded *guarded, int told)
{
    if (told == orders[POSTGRES_SERVER_DOWN])
        end_postgres(guarded, SIGINT);
    else if (told == orders[POSTGRES_SERVER_DEAD])
        end_postgres(guarded, SIGKILL);
    else if (told == orders[POSTGRES_SERVER_UP])
        begin_postgres(guarded);
}

/* Signals are blocked and taken with sigtimedwait(). */
static void guard(struct guarded guarded, pid_t served, int ready)
{
    sigset_t told;
    struct timespec patience = { .tv_sec = 0, .tv_nsec = LOOK_MS * 1000000L };
    int status = 0, order = 0;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        sigaddset(&told, orders[i]);
    (void)sigprocmask(SIG_BLOCK, &told, NULL);
    (void)setsid();
    begin_postgres(&guarded);
    if (is_ready(guarded.folder))
        (void)!write(ready, "x", 1);
    (void)close(ready);
    write_to("/dev/null");
    while (!is_gone(served) && order != SIGTERM &&
           (guarded.postgres <= 0 || waitpid(guarded.postgres, &status, WNOHANG) == 0)) {
        order = sigtimedwait(&told, NULL, &patience);
        obey(&guarded, order);
    }
    end_postgres(&guarded, SIGQUIT);
    remove_folder(guarded.folder);
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

static bool begin_guard(struct postgres_server *server, pid_t served, bool durable)
{
    int ready[2];
    char byte = 0;
    if (pipe(ready) != 0)
        return false;
    server->guardian = fork();
    if (server->guardian == 0) {
        (void)close(ready[0]);
        guard((struct guarded){ .folder = server->folder, .durable = durable }, served, ready[1]);
    }
    (void)close(ready[1]);
    bool fine = server->guardian > 0 && read(ready[0], &byte, 1) == 1;
    (void)close(ready[0]);
    if (!fine)
        fprintf(stderr, "PostgreSQL does not start in %s\n", server->folder);
    return fine;
}

bool postgres_server_start(struct postgres_server *server, pid_t served, bool durable)
{
    if (!make_folder(server->folder, sizeof server->folder) || !run_initdb(server)) {
        fprintf(stderr, "no PostgreSQL for tests in %s: see its log\n", server->folder);
        return false;
    }
    return begin_guard(server, served, durable);
}

bool postgres_server_start_standby(struct postgres_server *server, pid_t served, const struct postgres_server *primary)
{
    if (!make_folder(server->folder, sizeof server->folder) || !run_basebackup(server, primary)) {
        fprintf(stderr, "no copy of the PostgreSQL for tests in %s: see its log\n", server->folder);
        return false;
    }
    return begin_guard(server, served, false);
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

/* ---- Trouble ----------------------------------------------------------------------------------------------------- */

bool postgres_server_order(const struct postgres_server *server, enum postgres_server_order order)
{
    bool wanted = order == POSTGRES_SERVER_UP;
    if (kill(server->guardian, orders[order]) != 0)
        return false;
    for (int waited = 0; waited < READY_MS_MAX; waited += 20) {
        if (is_ready(server->folder) == wanted)
            return true;
        pause_ms(20);
    }
    return false;
}

static pid_t postmaster_of(const struct postgres_server *server)
{
    char path[128];
    int process = 0;
    snprintf(path, sizeof path, "%s/data/postmaster.pid", server->folder);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%d", &process) != 1)
        process = 0;
    if (file != NULL)
        (void)fclose(file);
    return (pid_t)process;
}

static void signal_children(pid_t process, int number)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)process);
    FILE *file = fopen(path, "r");
    while (file != NULL && fscanf(file, "%d", &child) == 1)
        (void)kill((pid_t)child, number);
    if (file != NULL)
        (void)fclose(file);
}

/* Stops the postmaster first, so that it starts no new children. */
bool postgres_server_freeze(const struct postgres_server *server)
{
    pid_t postmaster = postmaster_of(server);
    if (postmaster <= 0 || kill(postmaster, SIGSTOP) != 0)
        return false;
    signal_children(postmaster, SIGSTOP);
    return true;
}

void postgres_server_thaw(const struct postgres_server *server)
{
    pid_t postmaster = postmaster_of(server);
    if (postmaster <= 0)
        return;
    signal_children(postmaster, SIGCONT);
    (void)kill(postmaster, SIGCONT);
}

bool postgres_server_promote(const struct postgres_server *server)
{
    char data[128];
    snprintf(data, sizeof data, "%s/data", server->folder);
    const char *words[] = { "pg_ctl", "promote", "-w", "-D", data, NULL };
    return postgres_server_run(server, PAWL_TEST_POSTGRES_BIN "/pg_ctl", words);
}

/* ---- For this program -------------------------------------------------------------------------------------------- */

static struct postgres_server own;

static void stop_own(void)
{
    postgres_server_stop(&own);
}

/* Forked children of tests leave with _exit() and do not run this. */
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
            shared[0] = '\0'; /* the note names a server that is gone */
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
