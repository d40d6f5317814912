/* old_schema.h - the schemas of versions 1 to 8 as they were made then, step by step: never changed, so that a database of any
 * of these versions can be made and opened, and rows as they were recorded in them. */
#ifndef OLD_SCHEMA_H
#define OLD_SCHEMA_H

#include "kit/store_fixture.h"

/* A database of a version has all pieces up to it, in this order. */
struct old_piece {
    int64_t version;
    const char *sql;
};

extern const struct old_piece old_sqlite_schema[]; /* without the views */
extern const size_t old_sqlite_schema_count;
extern const struct old_piece old_postgres_schema[];
extern const size_t old_postgres_schema_count;

/* Puts a database of this version, as it was released, with these rows in the place of the fixture's, which is a file or in
 * PostgreSQL, and closes the store. */
void old_database_make(struct fixture *fixture, int64_t version, const char *rows);
/* Opens the store on it as well, which must bring it up to date. */
void old_database_open(struct fixture *fixture, int64_t version, const char *rows);

/* ---- Rows of old versions ------------------------------------------------------------------------------------------- */

/* SQL that adds events to run 1 of instance 1, in any version of the schema up to the sixth.  A failure has a "!" behind its
 * type. */
extern const char old_answers_sql[];
/* They have got what their types said, and keep their ids. */
void assert_old_answers(struct pw_store *store);

/* SQL that adds log lines to that run.  One that put steps back has a text of its own. */
extern const char old_repairs_sql[];
/* The first line is such a one, the others are not. */
void assert_old_repairs(struct pw_store *store);

/* SQL that adds steps to run 1 of instance 1, in any version of the schema up to the fifth: as they were recorded before a
 * step's state, what it undoes and what it waits for had columns. */
extern const char old_steps_sql[];
/* They have got what their texts said. */
void assert_old_steps(struct pw_store *store);

#endif
