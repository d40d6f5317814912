/* run_list.c - commands that print a list, one page or all: pawl workflows list, pawl instances list, children and runs,
 * pawl hooks list. */
#include "listing.h"
#include "run.h"

struct shown {
    const struct listing *listing;
    struct table table; /* begun with the first page */
    size_t count;
    bool has_more;
};

/* One line for each row: its id. */
static void put_ids(struct session *session, const struct verb *verb, const json_t *rows)
{
    json_each(row, rows) {
        struct pool pool = { NULL };
        const char *id = template_fill(&pool, verb->ids, row.value, session->screen.now_ms);
        pw_buffer_format(&session->out, "%s\n", safe(&pool, id != NULL ? id : ""));
        pool_clear(&pool);
    }
}

/* A long list is written item by item. */
static void put_items(struct session *session, const json_t *rows, size_t count)
{
    json_each(row, rows) {
        pw_buffer_put(&session->out, count + row.index > 0 ? ",\n" : "\n");
        json_write(&session->out, row.value, 0);
    }
}

static enum exit_code take_page(struct session *session, const json_t *page, void *user)
{
    struct shown *shown = user;
    const struct verb *verb = shown->listing->verb;
    const json_t *rows = json_at(page, verb->rows);
    if (session_is_json(session) && session_has(session, OPTION_ALL)) {
        put_items(session, rows, shown->count);
    } else if (session_is_json(session)) {
        session_put_json(session, page);
    } else if (session_is_ids(session)) {
        put_ids(session, verb, rows);
    } else {
        if (shown->table.column_count == 0)
            table_init(&shown->table, verb->columns, rows);
        table_add(&shown->table, session, rows);
        table_print(&shown->table, &session->screen, &session->out);
    }
    shown->count += json_array_size(rows);
    shown->has_more = json_flag(page, "hasNextPage");
    return session_print(session);
}

/* "no instances of order that are errored" */
static void put_nothing(struct session *session, const struct listing *listing)
{
    if (listing->verb->empty == NULL)
        return;
    pw_buffer_put(&session->out, verb_path(&session->pool, listing->verb->empty, listing->name));
    if (listing->workflow != NULL)
        pw_buffer_format(&session->out, " of %s", listing->workflow);
    for (const struct field *field = listing->verb->fields; field != NULL && field->name != NULL; field++)
        if (field->said != NULL && session_has(session, field->option))
            pw_buffer_format(&session->out, "%s%s", field->said, session_option(session, field->option));
    pw_buffer_put(&session->out, "\n");
}

/* What follows the rows. */
static void put_end(struct session *session, const struct shown *shown)
{
    bool is_all = session_has(session, OPTION_ALL);
    if (session_is_json(session) && is_all)
        pw_buffer_put(&session->out, "],\"hasNextPage\":false}\n");
    if (session_is_json(session) || session_is_ids(session) || !session->screen.is_terminal)
        return;
    if (shown->count == 0)
        put_nothing(session, shown->listing);
    else if (shown->has_more && !is_all)
        screen_note(&session->screen, &session->out, "there are more; --all shows them");
}

static enum exit_code list(struct session *session, const struct listing *listing)
{
    struct shown shown = { .listing = listing };
    const char *left_out = NULL;
    json_t *page = NULL;
    enum exit_code code;
    if (session_has(session, OPTION_ALL)) {
        if (session_is_json(session))
            pw_buffer_format(&session->out, "{\"%s\":[", listing->verb->rows);
        code = listing_all(session, listing, take_page, &shown, &left_out);
    } else {
        code = listing_page(session, listing, &page, &left_out);
        if (code == EXIT_DONE)
            code = take_page(session, page, &shown);
    }
    table_free(&shown.table);
    if (code != EXIT_DONE)
        return code;
    put_end(session, &shown);
    code = session_print(session);
    listing_tell_left_out(session, left_out);
    return code;
}

enum exit_code run_list(struct session *session)
{
    struct listing listing = listing_read(session);
    struct reference owner;
    if (session->invocation.command->argument == ARGUMENT_WORKFLOW) {
        listing.is_by_workflow = true;
        TRY(workflow_meant(session, &listing.workflow));
        if (listing.workflow == NULL && session_has(session, OPTION_CURSOR))
            return problem_use(&session->problem, "a cursor is of one workflow's list; --workflow says of which");
    } else if (session->invocation.command->argument == ARGUMENT_INSTANCE) {
        TRY(reference_find(session, &owner));
        listing.target = reference_path(&session->pool, &owner);
        listing.name = reference_name(&session->pool, &owner);
    }
    return list(session, &listing);
}
