/* old_schema.h - the schemas of versions 1 to 8 as they were made then, step by step: never changed, so that a database of any
 * of these versions can be made and opened. */
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

#endif
