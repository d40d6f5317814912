/* gate.h - for modules: a gate is a file, and who stands at it waits until the file is there. */
#ifndef TESTS_PAWLD_GATE_H
#define TESTS_PAWLD_GATE_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Adds a line to "<gate>.log". */
static inline void gate_note(const char *gate, const char *what)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s.log", gate);
    FILE *file = fopen(path, "ae");
    if (file == NULL)
        return;
    (void)fprintf(file, "%s\n", what);
    (void)fclose(file);
}

/* Notes "begun", and waits for a minute at the most. */
static inline void gate_stand(const char *gate)
{
    enum { LOOKS_MAX = 12000, LOOK_MS = 5 };
    const struct timespec moment = { 0, LOOK_MS * 1000000L };
    gate_note(gate, "begun");
    for (int i = 0; i < LOOKS_MAX && access(gate, F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
}

#endif
