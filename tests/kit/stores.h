/* stores.h - the stores that tests run on: their names, their places, and access to their contents past the store's
 * own functions. */
#ifndef TESTS_STORES_H
#define TESTS_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* STORE_PLAIN is the store of tests/memory.  It has no URL and no SQL, so only tests of stores run on it
 * (store_fixture.h). */
enum test_store { STORE_IN_MEMORY, STORE_IN_FILE, STORE_IN_POSTGRES, STORE_PLAIN };

/* How many stores there are, without the plain one: two in a build without PostgreSQL, and only the one in memory
 * with PAWL_TEST_ONE_STORE. */
size_t store_count(void);
const char *store_name(enum test_store store); /* "in memory", "in a file", "in PostgreSQL", "in plain memory" */

/* Returns PostgreSQL with PAWL_TEST_STORE=postgres, for programs that run once per store, and else `otherwise`. */
enum test_store store_asked_for(enum test_store otherwise);

/* A place for a store.  It is empty at first. */
struct store_place {
    enum test_store store;
    char folder[128]; /* of a file, else "" */
    char path[160];   /* of a file, else "" */
    char url[400];
};

void store_place_make(struct store_place *place, enum test_store store);
/* Empties the place again.  Every store on it must be closed. bare: removes the tables as well. */
void store_place_empty(const struct store_place *place, bool bare);
void store_place_remove(struct store_place *place);

/* Runs SQL on a connection of the test's own.  Not for stores in memory, which have only one connection. */
void store_place_execute(const struct store_place *place, const char *sql);
/* The first column of the last row; -1 if there is no row. */
int64_t store_place_number(const struct store_place *place, const char *sql);
/* Gets every row in order, as texts.  NULL stays NULL. */
typedef void store_row_fn(void *user, const char *const *columns, int count);
/* Call it in a forked child, which then uses a connection of its own. */
void store_places_after_fork(void);
void store_place_rows(const struct store_place *place, const char *sql, store_row_fn *row, void *user);
/* True if there is a table or view of that name. */
bool store_place_has(const struct store_place *place, const char *relation);

/* For mutations: runs SQL on the connection that they get.  Returns false if it failed. */
bool store_connection_rows(enum test_store store, void *connection, const char *sql, store_row_fn *row, void *user);
bool store_connection_execute(enum test_store store, void *connection, const char *sql);
/* The first column of the last row; INT64_MIN if there is no row. */
bool store_connection_number(enum test_store store, void *connection, const char *sql, int64_t *out_number);

#endif
