/* fixture.c - the PostgreSQL server that all tests of one ctest run share: "start <note>" leaves a note where it
 * is, "stop <note>" ends it.  It ends by itself when ctest does.  "start-durable <note>" is for the benchmarks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/postgres_server.h"

static int start(const char *note, bool durable)
{
    struct postgres_server server;
    if (!postgres_server_start(&server, getppid(), durable))
        return 1;
    FILE *file = fopen(note, "w");
    if (file == NULL || fprintf(file, "%s\n%d\n", server.folder, (int)server.guardian) < 0 || fclose(file) != 0)
        return 1;
    return 0;
}

static int stop(const char *note)
{
    struct postgres_server server = { .guardian = 0 };
    int guardian = 0;
    FILE *file = fopen(note, "r");
    if (file == NULL || fscanf(file, "%95s %d", server.folder, &guardian) != 2)
        return 1;
    (void)fclose(file);
    (void)unlink(note);
    server.guardian = (pid_t)guardian;
    postgres_server_stop(&server);
    return 0;
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "start") == 0)
        return start(arguments[2], false);
    if (count == 3 && strcmp(arguments[1], "start-durable") == 0)
        return start(arguments[2], true);
    if (count == 3 && strcmp(arguments[1], "stop") == 0)
        return stop(arguments[2]);
    fprintf(stderr, "usage: postgres_fixture start|start-durable|stop <note>\n");
    return 2;
}
