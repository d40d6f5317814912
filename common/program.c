/* program.c - see program.h. */
#include "common/program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static bool is_heading(const struct pw_option *option)
{
    return option->name == NULL && option->key == NULL;
}

struct pw_option_list pw_program_options(const struct pw_program *program)
{
    struct pw_option_list list = { { NULL } };
    size_t count = 0;
    assert(program->option_count <= PW_PROGRAM_OPTIONS_MAX);
    for (size_t i = 0; i < program->option_count; i++)
        if (!is_heading(&program->options[i]))
            list.items[count++] = &program->options[i];
    return list;
}

/* The options of each section are a list in the room, with a NULL in the place of the next heading. */
static size_t make_sections(const struct pw_program *program, const struct pw_option **room,
                            struct pw_section *sections)
{
    size_t count = 0;
    assert(program->option_count <= PW_PROGRAM_OPTIONS_MAX);
    for (size_t i = 0; i < program->option_count; i++) {
        const struct pw_option *option = &program->options[i];
        room[i] = is_heading(option) ? NULL : option;
        if (is_heading(option))
            sections[count++] = (struct pw_section){ option->help, .options = &room[i + 1] };
    }
    room[program->option_count] = NULL;
    assert(count + program->page.section_count <= PW_PROGRAM_SECTIONS_MAX);
    memcpy(sections + count, program->page.sections, program->page.section_count * sizeof *sections);
    return count + program->page.section_count;
}

bool pw_program_answer(const struct pw_program *program, const struct pw_asked *asked, struct pw_buffer *out)
{
    const struct pw_option *room[PW_PROGRAM_OPTIONS_MAX + 1];
    struct pw_section sections[PW_PROGRAM_SECTIONS_MAX];
    struct pw_page page = program->page;
    char ask[64];
    page.section_count = make_sections(program, room, sections);
    page.sections = sections;
    (void)snprintf(ask, sizeof ask, "%s --complete", page.name);
    if (asked->help)
        pw_page_help(&page, 0, false, out);
    else if (asked->version)
        pw_buffer_format(out, "%s %s\n", page.name, page.version);
    else if (asked->manual)
        pw_page_manual(&page, out);
    else if (asked->completion != NULL)
        pw_completion_script(asked->completion, page.name, ask, out);
    else
        return false;
    return true;
}

bool pw_program_complete(const struct pw_program *program, int count, char **words, struct pw_buffer *out)
{
    if (count < 3 || strcmp(words[1], "--complete") != 0 || strcmp(words[2], "--") != 0)
        return false;
    pw_complete(out, pw_program_options(program).items, words + 3, count - 3);
    return true;
}
