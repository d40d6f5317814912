/* columns.h - makes SQL as constant text: statements, and column lists made from the lists in core/fields.h. */
#ifndef PW_STORE_COLUMNS_H
#define PW_STORE_COLUMNS_H

#include "core/fields.h"

/* A statement.  Each file has a list of its statements, which are identified by numbers: the file's own
 * QUERY_<name>. */
struct pw_statement {
    const char *name, *text;
};
enum { PW_STATEMENTS_MAX = 128 }; /* per file */
#define PW_STATEMENT(name, text) { #name, text },
#define PW_STATEMENT_NUMBER(name, text) QUERY_##name,

/* "s.seq, s.attempts, ...": the columns of a list, each after the prefix.  It begins with a comma if the list has
 * neither a key nor a head. */
#define PW_COLUMNS(list, prefix) list(PW_COLUMN, prefix)
#define PW_COLUMN(prefix, part, type, member, column) PW_COMMA_##part prefix #column
#define PW_COMMA_KEY ""
#define PW_COMMA_HEAD ""
#define PW_COMMA_FIRST ", "
#define PW_COMMA_NEXT ", "
#define PW_COMMA_ONCE ", "
#define PW_COMMA_BEGUN ", "

/* "?, ?, ...": a parameter for each of these columns. */
#define PW_PARAMETERS(list) list(PW_PARAMETER, )
#define PW_PARAMETER(with, part, type, member, column) PW_COMMA_##part "?"

/* "attempts = excluded.attempts, ...": sets the columns that may change, in an upsert. */
#define PW_CHANGES(list) list(PW_CHANGE, )
#define PW_CHANGE(with, part, type, member, column) PW_CHANGE_##part(#column)
#define PW_CHANGE_KEY(column) ""
#define PW_CHANGE_HEAD(column) column " = excluded." column
#define PW_CHANGE_FIRST(column) column " = excluded." column
#define PW_CHANGE_NEXT(column) ", " column " = excluded." column
#define PW_CHANGE_ONCE(column) ""
#define PW_CHANGE_BEGUN(column)                                                                                        \
    ", " column " = CASE WHEN workflow_instance.run = excluded.run THEN workflow_instance." column                     \
    " ELSE excluded." column " END"

/* "attempts = ?, ...": the columns that may change, each with a parameter.  The first parameter of an instance is
 * its run. */
#define PW_SETS(list) list(PW_SET, )
#define PW_SET(with, part, type, member, column) PW_SET_##part(#column)
#define PW_SET_KEY(column) ""
#define PW_SET_HEAD(column) column " = ?"
#define PW_SET_FIRST(column) column " = ?"
#define PW_SET_NEXT(column) ", " column " = ?"
#define PW_SET_ONCE(column) ""
#define PW_SET_BEGUN(column) ", " column " = CASE WHEN run = ?1 THEN " column " ELSE ? END"

#endif
