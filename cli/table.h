/* table.h - aligned columns.
 *
 * Rows are gathered and printed together; a second batch keeps the widths of the first and adds no heading, so that a
 * long list can be printed page by page.  On a terminal the flexible column is cut to what fits. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "screen.h"

enum { TABLE_COLUMNS_MAX = 10, TABLE_BELOW_MAX = 2 };

struct column {
    const char *heading;
    bool is_right;    /* numbers */
    bool is_flexible; /* may be cut; one of them at most */
};

struct cell {
    const char *text;
    enum style style;
};

struct row {
    struct row *next;
    struct cell below[TABLE_BELOW_MAX]; /* lines of their own under the row; text NULL: none */
    struct cell cells[TABLE_COLUMNS_MAX];
};

struct table {
    const struct column *columns;
    size_t column_count;
    struct pool pool;
    struct row *first, *last;
    size_t widths[TABLE_COLUMNS_MAX];
    size_t cell_count; /* of the last row */
    size_t indent;
    bool hides_heading;
};

void table_init(struct table *table, const struct column *columns, size_t column_count);
/* A table of facts: a name and a value in each row, without a heading; see table_fact(). */
void table_init_facts(struct table *table);
void table_fact(struct table *table, const char *name, const char *value);
void table_row(struct table *table);
/* The text is copied, and made safe. */
void table_cell(struct table *table, enum style style, const char *text);
/* Another line under the row, for what fits into no column. */
void table_below(struct table *table, enum style style, const char *text);
/* Appends the rows, and forgets them. */
void table_print(struct table *table, const struct screen *screen, struct text *out);
void table_free(struct table *table);

#endif
