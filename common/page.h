/* page.h - what a program or a command says of itself: written once, shown as help on a terminal and as a man page. */
#ifndef PW_COMMON_PAGE_H
#define PW_COMMON_PAGE_H

#include "common/buffer.h"
#include "common/options.h"

/* Lists of them end with a NULL name. */
struct pw_entry {
    const char *name;
    const char *text; /* of an example, what it is for, or NULL */
};

/* What it has of these, in this order.  A section that has nothing is left out. */
struct pw_section {
    const char *heading;
    const char *text;                       /* paragraphs, with a blank line between them */
    const struct pw_option *const *options; /* up to a NULL */
    const struct pw_entry *entries;
    const struct pw_entry *examples; /* command lines */
};

struct pw_page {
    const char *name;         /* "pawl instances get" */
    const char *summary;      /* one line, without a full stop */
    const char *const *usage; /* up to a NULL */
    const char *description;  /* paragraphs, or NULL */
    const struct pw_section *sections;
    size_t section_count;
    int volume; /* of the man page: 1 or 8 */
    const char *version;
    const char *see_also; /* in roff, whole lines */
};

/* width: of the terminal, 0 if it has none.  has_style: headings are bold, remarks dim. */
void pw_page_help(const struct pw_page *page, size_t width, bool has_style, struct pw_buffer *out);
/* In roff.  Texts are escaped, so that nothing of them is taken for a request. */
void pw_page_manual(const struct pw_page *page, struct pw_buffer *out);

#endif
