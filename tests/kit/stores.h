/* stores.h - the stores that tests run on, in one place: what they are called, where they are, and what is in them past
 * the store's own functions. */
#ifndef TESTS_STORES_H
#define TESTS_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* STORE_PLAIN is the one of tests/memory, which has no URL and no SQL: only tests of stores run on it (store_fixture.h). */
enum test_store { STORE_IN_MEMORY, STORE_IN_FILE, STORE_IN_POSTGRES, STORE_PLAIN };

/* How many there are, without the plain one: without PostgreSQL in the build, two; with PAWL_TEST_ONE_STORE, the one in memory. */
size_t store_count(void);
const char *store_name(enum test_store store); /* "in memory", "in a file", "in PostgreSQL", "in plain memory" */

/* The one that PAWL_TEST_STORE=postgres asks for, for programs that are run once for each store; or the other. */
enum test_store store_asked_for(enum test_store otherwise);

/* A place for a store, empty at first. */
struct store_place {
    enum test_store store;
    char folder[128]; /* of a file; "" of others */
    char path[160];   /* the same */
    char url[400];
};

void store_place_make(struct store_place *place, enum test_store store);
/* Makes it empty again; every store on it is closed.  bare: without even the tables. */
void store_place_empty(const struct store_place *place, bool bare);
void store_place_remove(struct store_place *place);

/* SQL past the store, on a connection of the test's own; not in memory, where there is no other. */
void store_place_execute(const struct store_place *place, const char *sql);
/* The first column of the last row; -1 when there is none. */
int64_t store_place_number(const struct store_place *place, const char *sql);
/* Every row in order, as texts; NULL is NULL. */
typedef void store_row_fn(void *user, const char *const *columns, int count);
/* In a child of fork(): what it asks of a database it asks by a connection of its own. */
void store_places_after_fork(void);
void store_place_rows(const struct store_place *place, const char *sql, store_row_fn *row, void *user);
/* Is there a table or view of that name? */
bool store_place_has(const struct store_place *place, const char *relation);

/* For mutations: SQL on the connection that they are given.  False: it failed. */
bool store_connection_rows(enum test_store store, void *connection, const char *sql, store_row_fn *row, void *user);
bool store_connection_execute(enum test_store store, void *connection, const char *sql);
/* The first column of the last row; INT64_MIN when there is none. */
bool store_connection_number(enum test_store store, void *connection, const char *sql, int64_t *out_number);

#endif
