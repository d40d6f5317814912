/* program.h - a program without subcommands: one table of options, and one page made from it. */
#ifndef PW_COMMON_PROGRAM_H
#define PW_COMMON_PROGRAM_H

#include "common/completion.h"
#include "common/page.h"

/* The questions that every such program answers about itself; a member of its struct. */
struct pw_asked {
    bool help, version, manual;
    const char *completion; /* the shell */
};

/* A row without name and key begins a section of the page; the options up to the next such row belong to it. */
#define PW_OPTIONS_OF(heading)                                                                                         \
    {                                                                                                                  \
        .help = heading                                                                                                \
    }

#define PW_OPTIONS_ASKED(type, member)                                                                                 \
    { "help", 'h', PW_OPTION_FLAG, NULL, .help = "print this text", .offset = offsetof(type, member.help) },           \
        { "version", 0, PW_OPTION_FLAG, NULL, .help = "print the version", .offset = offsetof(type, member.version) }, \
        { "man", 0, PW_OPTION_FLAG, NULL, .help = "print the man page", .offset = offsetof(type, member.manual) },     \
    {                                                                                                                  \
        "completion", 0, PW_OPTION_CHOICE, "SHELL",                                                                    \
            .help = "print the script that completes the options in bash, zsh or fish", .choices = PW_SHELLS,          \
            .offset = offsetof(type, member.completion)                                                                \
    }

struct pw_program {
    struct pw_page page; /* its sections follow those of the options */
    const struct pw_option *options;
    size_t option_count;
};

enum { PW_PROGRAM_OPTIONS_MAX = 96, PW_PROGRAM_SECTIONS_MAX = 16 };
struct pw_option_list {
    const struct pw_option *items[PW_PROGRAM_OPTIONS_MAX + 1]; /* up to a NULL */
};
struct pw_option_list pw_program_options(const struct pw_program *program);

/* Writes the answer.  False: nothing was asked. */
bool pw_program_answer(const struct pw_program *program, const struct pw_asked *asked, struct pw_buffer *out);

/* Answers "program --complete -- words", which completion scripts run.  False: the words are something else. */
bool pw_program_complete(const struct pw_program *program, int count, char **words, struct pw_buffer *out);

#endif
