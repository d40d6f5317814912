/* page.h - the documentation of a program or command, printed as help or as a man page. */
#ifndef PW_COMMON_PAGE_H
#define PW_COMMON_PAGE_H

#include "common/buffer.h"
#include "common/options.h"

/* A list of entries ends with a NULL name. */
struct pw_entry {
    const char *name;
    const char *text; /* for an example: its purpose, or NULL */
};

/* Its parts are printed in this order.  An empty section is left out. */
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

/* width: of the terminal; 0: unknown.  has_style: headings are bold, remarks dim. */
void pw_page_help(const struct pw_page *page, size_t width, bool has_style, struct pw_buffer *out);
/* In roff.  Texts are escaped, so that roff takes nothing in them for a request. */
void pw_page_manual(const struct pw_page *page, struct pw_buffer *out);

#endif
