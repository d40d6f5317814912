/* fail.c - see fail.h. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES_KEPT = 30, LINE_MAX = 400 };

static struct {
    unsigned long long seed;
    bool tracing, echo;
    int depth;
    unsigned long long count;
    char lines[LINES_KEPT][LINE_MAX];
} trace;

const char *sim_rule_text(enum sim_rule rule)
{
    switch (rule) {
#define RULE_TEXT(number, code, text)                                                                                  \
    case SIM_RULE_##code:                                                                                              \
        return text;
        SIM_RULES(RULE_TEXT)
#undef RULE_TEXT
    }
    return "?";
}

void sim_fail_begin(unsigned long long seed, bool tracing, bool echo)
{
    trace.seed = seed;
    trace.tracing = tracing;
    trace.echo = echo;
    trace.depth = 0;
    trace.count = 0;
}

void sim_trace(const char *format, ...)
{
    if (!trace.tracing)
        return;
    char *line = trace.lines[trace.count++ % LINES_KEPT];
    int indent = trace.depth < 20 ? trace.depth * 2 : 40;
    va_list arguments;
    va_start(arguments, format);
    (void)snprintf(line, LINE_MAX, "%*s", indent, "");
    (void)vsnprintf(line + indent, (size_t)(LINE_MAX - indent), format, arguments);
    va_end(arguments);
    if (trace.echo)
        puts(line);
}

void sim_trace_enter(void)
{
    trace.depth++;
}

void sim_trace_leave(void)
{
    trace.depth--;
}

void sim_fail(enum sim_rule rule, const char *format, ...)
{
    if (trace.tracing) {
        unsigned long long first = trace.count > LINES_KEPT ? trace.count - LINES_KEPT : 0;
        for (unsigned long long i = first; i < trace.count && !trace.echo; i++)
            puts(trace.lines[i % LINES_KEPT]);
        printf("seed %llu breaks invariant %d: %s\n  ", trace.seed, (int)rule, sim_rule_text(rule));
        va_list arguments;
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        puts("");
    }
    (void)fflush(stdout);
    _Exit(SIM_EXIT_RULE + (int)rule);
}

void sim_give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "sim: seed %llu: ", trace.seed);
    (void)vfprintf(stderr, format, arguments);
    (void)fputs("\n", stderr);
    va_end(arguments);
    (void)fflush(stdout);
    _Exit(SIM_EXIT_LIMIT);
}
