/* table.c - see table.h. */
#include "table.h"

#include <assert.h>
#include <string.h>

#include "session.h"
#include "view.h"

enum { GAP = 2, FLEXIBLE_MIN = 8, BELOW_INDENT = 3 };

static bool any_has(const json_t *rows, const char *path)
{
    json_each(row, rows)
        if (json_at(row.value, path) != NULL)
            return true;
    return false;
}

void table_init(struct table *table, const struct column *columns, const json_t *rows)
{
    *table = (struct table){ .indent = 0 };
    for (; columns->heading != NULL; columns++) {
        if (rows != NULL && columns->only_if != NULL && !any_has(rows, columns->only_if))
            continue;
        assert(table->column_count < TABLE_COLUMNS_MAX);
        *(columns->is_below ? &table->below : &table->columns[table->column_count++]) = *columns;
    }
}

void table_row(struct table *table)
{
    struct row *row = pool_take(&table->pool, sizeof *row);
    *(table->last != NULL ? &table->last->next : &table->first) = row;
    table->last = row;
    table->cell_count = 0;
}

void table_cell(struct table *table, enum style style, const char *text)
{
    assert(table->cell_count < table->column_count);
    const char *shown = safe(&table->pool, text);
    size_t width = text_width(shown), place = table->cell_count++;
    table->last->cells[place] = (struct cell){ shown, style };
    if (width > table->widths[place])
        table->widths[place] = width;
}

void table_below(struct table *table, enum style style, const char *text)
{
    size_t place = 0;
    while (place + 1 < TABLE_BELOW_MAX && table->last->below[place].text != NULL)
        place++;
    table->last->below[place] = (struct cell){ safe(&table->pool, text), style };
}

/* The width of the flexible column on this screen. */
static size_t flexible_width(const struct table *table, const struct screen *screen, size_t wanted)
{
    size_t others = table->indent;
    if (screen->width == 0)
        return wanted;
    for (size_t i = 0; i < table->column_count; i++)
        others += (i > 0 ? GAP : 0) + (table->columns[i].is_flexible ? 0 : table->widths[i]);
    size_t left = screen->width > others + FLEXIBLE_MIN ? screen->width - others : FLEXIBLE_MIN;
    return left < wanted ? left : wanted;
}

static void print_row(struct table *table, const struct screen *screen, const struct row *row, struct pw_buffer *out)
{
    size_t owed = table->indent; /* blanks, written only if something follows */
    for (size_t i = 0; i < table->column_count; i++) {
        const struct cell *cell = &row->cells[i];
        size_t room = table->widths[i];
        const char *text = cell->text != NULL ? cell->text : "";
        if (table->columns[i].is_flexible) {
            room = flexible_width(table, screen, room);
            text = screen_cut(screen, &table->pool, text, room);
        }
        size_t width = text_width(text), blanks = room > width ? room - width : 0;
        if (table->columns[i].is_right)
            owed += blanks;
        if (text[0] != '\0') {
            pw_buffer_repeat(out, " ", owed);
            screen_put(screen, out, cell->style, text);
            owed = 0;
        } else {
            owed += width;
        }
        owed += GAP + (table->columns[i].is_right ? 0 : blanks);
    }
    pw_buffer_put(out, "\n");
}

static void print_below(struct table *table, const struct screen *screen, const struct cell *cell,
                        struct pw_buffer *out)
{
    size_t indent = table->indent + BELOW_INDENT;
    size_t room = screen->width > indent ? screen->width - indent : text_width(cell->text);
    pw_buffer_repeat(out, " ", indent);
    screen_put(screen, out, cell->style, screen_cut(screen, &table->pool, cell->text, room));
    pw_buffer_put(out, "\n");
}

static void print_heading(struct table *table, const struct screen *screen, struct pw_buffer *out)
{
    struct row heading = { .next = NULL };
    for (size_t i = 0; i < table->column_count; i++)
        heading.cells[i] = (struct cell){ table->columns[i].heading, STYLE_BOLD };
    print_row(table, screen, &heading, out);
}

void table_print(struct table *table, const struct screen *screen, struct pw_buffer *out)
{
    if (!table->hides_heading && table->first != NULL) {
        for (size_t i = 0; i < table->column_count; i++) {
            size_t width = text_width(table->columns[i].heading);
            if (width > table->widths[i])
                table->widths[i] = width;
        }
        print_heading(table, screen, out);
        table->hides_heading = true;
    }
    for (const struct row *row = table->first; row != NULL; row = row->next) {
        print_row(table, screen, row, out);
        for (size_t i = 0; i < TABLE_BELOW_MAX && row->below[i].text != NULL; i++)
            print_below(table, screen, &row->below[i], out);
    }
    pool_clear(&table->pool);
    table->first = table->last = NULL;
}

void table_free(struct table *table)
{
    pool_clear(&table->pool);
}

/* ---- Of JSON --------------------------------------------------------------------------------------------------------- */

static struct cell cell_of(const struct column *column, const struct source *source)
{
    int64_t now_ms = source->session->screen.now_ms;
    if (column->show != NULL)
        return column->show(source);
    if (column->status != NULL) {
        const char *phase = json_text(source->row, column->status, phase_of(json_at(source->row, column->status)));
        return (struct cell){ phase_show(phase), status_style(phase) };
    }
    const char *text = template_fill(source->pool, column->template, source->row, now_ms);
    if (text != NULL || column->otherwise == NULL)
        return (struct cell){ text, column->style };
    return (struct cell){ template_fill(source->pool, column->otherwise, source->row, now_ms),
                          column->otherwise_style };
}

void table_add(struct table *table, struct session *session, const json_t *rows)
{
    json_each(row, rows) {
        struct pool pool = { NULL }; /* a list may be long; the table copies */
        const struct source source = { session, &pool, row.value };
        table_row(table);
        for (size_t i = 0; i < table->column_count; i++) {
            struct cell cell = cell_of(&table->columns[i], &source);
            table_cell(table, cell.style, cell.text != NULL ? cell.text : "");
        }
        if (table->below.heading != NULL) {
            struct cell cell = cell_of(&table->below, &source);
            if (cell.text != NULL)
                table_below(table, cell.style, cell.text);
        }
        pool_clear(&pool);
    }
}

void table_show(struct session *session, struct pw_buffer *out, const struct column *columns, const json_t *rows)
{
    struct table table;
    table_init(&table, columns, rows);
    table_add(&table, session, rows);
    table_print(&table, &session->screen, out);
    table_free(&table);
}

void table_init_facts(struct table *table)
{
    static const struct column columns[] = { { .heading = "" },
                                             { .heading = "", .is_flexible = true },
                                             { .heading = NULL } };
    table_init(table, columns, NULL);
    table->hides_heading = true;
}

void table_add_facts(struct table *table, struct session *session, const struct column *facts, const json_t *value)
{
    for (; facts->heading != NULL; facts++) {
        struct cell cell = cell_of(facts, &(struct source){ session, &session->pool, value });
        if (cell.text == NULL)
            continue;
        table_row(table);
        table_cell(table, STYLE_DIM, facts->heading);
        table_cell(table, cell.style, cell.text);
    }
}
