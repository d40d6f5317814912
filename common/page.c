/* page.c - see page.h. */
#include "common/page.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum { WIDTH_MAX = 88, NAME_WIDTH = 26, INDENT = 2, OPTION_SIZE = 80 };

/* "-o, --output FORMAT" */
static const char *write_option(const struct pw_option *option, char out_text[OPTION_SIZE])
{
    char letter[8] = "    ";
    if (option->letter != '\0')
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    if (option->name == NULL)
        (void)snprintf(out_text, OPTION_SIZE, "%s", option->key);
    else
        (void)snprintf(out_text, OPTION_SIZE, "%s--%s%s%s", letter, option->name, option->value != NULL ? " " : "",
                       option->value != NULL ? option->value : "");
    return out_text;
}

static bool is_empty(const struct pw_section *section)
{
    return section->text == NULL && section->entries == NULL && section->examples == NULL &&
           (section->options == NULL || section->options[0] == NULL);
}

/* The next paragraph of *text, which is moved behind it. */
static struct pw_text take_paragraph(const char **text)
{
    const char *end = strstr(*text, "\n\n");
    struct pw_text paragraph = { *text, end != NULL ? (size_t)(end - *text) : strlen(*text) };
    *text += paragraph.size + (end != NULL ? 2 : 0);
    return paragraph;
}

/* ---- Help ------------------------------------------------------------------------------------------------------------------ */

struct help {
    struct pw_buffer *out;
    size_t width;
    bool has_style;
};

static void put_styled(const struct help *help, const char *code, const char *text)
{
    pw_buffer_put(help->out, help->has_style ? code : "");
    pw_buffer_put(help->out, text);
    pw_buffer_put(help->out, help->has_style ? "\033[0m" : "");
}

/* Words from the column `at` on, with every further line beginning at `indent`. */
static void put_wrapped(const struct help *help, struct pw_text text, size_t indent, size_t at)
{
    bool is_first = true;
    while (text.size > 0) {
        const char *blank = memchr(text.data, ' ', text.size);
        size_t size = blank != NULL ? (size_t)(blank - text.data) : text.size;
        if (!is_first && at + 1 + size > help->width) {
            pw_buffer_put(help->out, "\n");
            pw_buffer_repeat(help->out, " ", indent);
            at = indent;
            is_first = true;
        }
        pw_buffer_put(help->out, is_first ? "" : " ");
        pw_buffer_add(help->out, text.data, size);
        at += size + !is_first;
        is_first = false;
        size += blank != NULL;
        text = (struct pw_text){ text.data + size, text.size - size };
    }
    pw_buffer_put(help->out, "\n");
}

/* gap: what stands before each. */
static void put_paragraphs(const struct help *help, const char *text, const char *first_gap)
{
    const char *gap = first_gap;
    while (text != NULL && *text != '\0') {
        pw_buffer_put(help->out, gap);
        put_wrapped(help, take_paragraph(&text), 0, 0);
        gap = "\n";
    }
}

static void put_entry(const struct help *help, const char *name, const char *text)
{
    size_t used = INDENT + strlen(name), column = INDENT + NAME_WIDTH;
    pw_buffer_repeat(help->out, " ", INDENT);
    pw_buffer_put(help->out, name);
    if (used + 2 > column) {
        pw_buffer_put(help->out, "\n");
        used = 0;
    }
    pw_buffer_repeat(help->out, " ", column - used);
    put_wrapped(help, pw_text_of(text), column, column);
}

static void put_section(const struct help *help, const struct pw_section *section)
{
    char name[OPTION_SIZE];
    pw_buffer_put(help->out, "\n");
    put_styled(help, "\033[1m", section->heading);
    pw_buffer_put(help->out, "\n");
    put_paragraphs(help, section->text, "");
    for (const struct pw_option *const *at = section->options; at != NULL && *at != NULL; at++)
        if ((*at)->help != NULL)
            put_entry(help, write_option(*at, name), (*at)->help);
    for (const struct pw_entry *at = section->entries; at != NULL && at->name != NULL; at++)
        put_entry(help, at->name, at->text);
    for (const struct pw_entry *at = section->examples; at != NULL && at->name != NULL; at++) {
        pw_buffer_format(help->out, "  %s\n", at->name);
        if (at->text != NULL) {
            pw_buffer_put(help->out, "      ");
            put_styled(help, "\033[2m", at->text);
            pw_buffer_put(help->out, "\n");
        }
    }
}

void pw_page_help(const struct pw_page *page, size_t width, bool has_style, struct pw_buffer *out)
{
    struct help help = { out, width > 0 && width < WIDTH_MAX ? width : WIDTH_MAX, has_style };
    put_styled(&help, "\033[1m", page->name);
    pw_buffer_put(out, ": ");
    put_wrapped(&help, pw_text_of(page->summary), 0, strlen(page->name) + 2);
    for (const char *const *usage = page->usage; *usage != NULL; usage++)
        pw_buffer_format(out, "%s%s\n", usage == page->usage ? "\nusage: " : "       ", *usage);
    put_paragraphs(&help, page->description, "\n");
    for (size_t i = 0; i < page->section_count; i++)
        if (!is_empty(&page->sections[i]))
            put_section(&help, &page->sections[i]);
}

/* ---- Man pages --------------------------------------------------------------------------------------------------------- */

/* A backslash is written \e, a - is one that can be copied, and a . or ' at the start of a line is no request. */
static void put_roff(struct pw_buffer *out, struct pw_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        char letter = text.data[i];
        if ((i == 0 || text.data[i - 1] == '\n') && (letter == '.' || letter == '\''))
            pw_buffer_put(out, "\\&");
        if (letter == '\\')
            pw_buffer_put(out, "\\e");
        else if (letter == '-')
            pw_buffer_put(out, "\\-");
        else
            pw_buffer_add(out, &letter, 1);
    }
}

/* The request, and the text behind it. */
static void put_line(struct pw_buffer *out, const char *request, const char *text)
{
    pw_buffer_put(out, request);
    put_roff(out, pw_text_of(text + strspn(text, " ")));
    pw_buffer_put(out, "\n");
}

static void put_roff_paragraphs(struct pw_buffer *out, const char *text)
{
    while (text != NULL && *text != '\0') {
        pw_buffer_put(out, ".PP\n");
        put_roff(out, take_paragraph(&text));
        pw_buffer_put(out, "\n");
    }
}

static void put_roff_section(struct pw_buffer *out, const struct pw_section *section)
{
    char name[OPTION_SIZE];
    pw_buffer_put(out, ".SH ");
    for (const char *letter = section->heading; *letter != '\0'; letter++)
        pw_buffer_add(out, (char[]){ (char)(*letter >= 'a' && *letter <= 'z' ? *letter - 'a' + 'A' : *letter) }, 1);
    pw_buffer_put(out, "\n");
    put_roff_paragraphs(out, section->text);
    for (const struct pw_option *const *at = section->options; at != NULL && *at != NULL; at++) {
        if ((*at)->help == NULL)
            continue;
        put_line(out, ".TP\n.B ", write_option(*at, name));
        put_line(out, "", (*at)->help);
    }
    for (const struct pw_entry *at = section->entries; at != NULL && at->name != NULL; at++) {
        put_line(out, ".TP\n.B ", at->name);
        put_line(out, "", at->text);
    }
    for (const struct pw_entry *at = section->examples; at != NULL && at->name != NULL; at++) {
        if (at->text != NULL) {
            pw_buffer_put(out, ".PP\n");
            put_roff(out, pw_text_of(at->text));
            pw_buffer_put(out, ":\n");
        }
        put_line(out, ".PP\n.RS 4\n.nf\n", at->name);
        pw_buffer_put(out, ".fi\n.RE\n");
    }
}

void pw_page_manual(const struct pw_page *page, struct pw_buffer *out)
{
    pw_buffer_put(out, ".TH ");
    for (const char *letter = page->name; *letter != '\0'; letter++)
        pw_buffer_add(out, *letter == ' ' ? "-" : letter, 1);
    pw_buffer_format(out, " %d \"\" \"pawl %s\" \"Pawl\"\n.SH NAME\n", page->volume, page->version);
    for (const char *letter = page->name; *letter != '\0'; letter++)
        put_roff(out, (struct pw_text){ *letter == ' ' ? "-" : letter, 1 });
    put_line(out, " \\- ", page->summary);
    pw_buffer_put(out, ".SH SYNOPSIS\n");
    for (const char *const *usage = page->usage; *usage != NULL; usage++)
        put_line(out, usage == page->usage ? ".B " : ".br\n.B ", *usage);
    if (page->description != NULL)
        pw_buffer_put(out, ".SH DESCRIPTION\n");
    put_roff_paragraphs(out, page->description);
    for (size_t i = 0; i < page->section_count; i++)
        if (!is_empty(&page->sections[i]))
            put_roff_section(out, &page->sections[i]);
    if (page->see_also != NULL)
        pw_buffer_format(out, ".SH SEE ALSO\n%s", page->see_also);
}
