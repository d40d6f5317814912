/* table.h - aligned columns, made of JSON values.
 *
 * A column says where in a row's value its cell is, and how it is shown.  Rows are gathered and printed together; a second batch keeps the widths of the first and adds no heading, so that a
 * long list can be printed page by page.  On a terminal the flexible column is cut to what fits. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "screen.h"
#include "template.h"

enum { TABLE_COLUMNS_MAX = 10, TABLE_BELOW_MAX = 2 };

struct session;

struct cell {
    const char *text; /* NULL: unknown */
    enum style style;
};

/* The input of a cell. */
struct source {
    struct session *session;
    struct pool *pool; /* for the cell's text, which the table copies */
    const json_t *row;
};
typedef struct cell cell_fn(const struct source *source);

/* A list of them ends with a NULL heading. */
struct column {
    const char *heading;
    const char *template; /* see template.h */
    enum style style;
    const char *otherwise; /* the template used if the first one has no value; or NULL */
    enum style otherwise_style;
    const char *status;  /* instead: the path of a status or of {status, phase}, which has its own style */
    cell_fn *show;       /* instead: computes the cell */
    const char *only_if; /* the column exists only if one of the first rows has a value at this path; or NULL */
    bool is_right;       /* numbers */
    bool is_flexible;    /* may be cut; one of them at most */
    bool is_below;       /* its own line under the row, if it has a value; only the last column */
};

struct row {
    struct row *next;
    struct cell below[TABLE_BELOW_MAX]; /* lines of their own under the row; text NULL: none */
    struct cell cells[TABLE_COLUMNS_MAX];
};

struct table {
    struct column columns[TABLE_COLUMNS_MAX];
    size_t column_count; /* 0: not begun */
    struct column below; /* heading NULL: there is none */
    struct pool pool;
    struct row *first, *last;
    size_t widths[TABLE_COLUMNS_MAX];
    size_t cell_count; /* of the last row */
    size_t indent;
    bool hides_heading;
};

/* rows: the first ones, for columns with only_if; NULL: show all columns. */
void table_init(struct table *table, const struct column *columns, const json_t *rows);
/* A row for each of the values. */
void table_add(struct table *table, struct session *session, const json_t *rows);
/* Prints a whole table. */
void table_show(struct session *session, struct pw_buffer *out, const struct column *columns, const json_t *rows);
/* A table of facts about one value: a row for each fact that has a value, beginning with its heading. */
void table_init_facts(struct table *table);
void table_add_facts(struct table *table, struct session *session, const struct column *facts, const json_t *value);

/* By hand: */
void table_row(struct table *table);
/* The text is copied, and made safe. */
void table_cell(struct table *table, enum style style, const char *text);
/* Another line under the row, for what fits into no column. */
void table_below(struct table *table, enum style style, const char *text);
/* Appends the rows to `out`, and removes them from the table. */
void table_print(struct table *table, const struct screen *screen, struct pw_buffer *out);
void table_free(struct table *table);

#endif
