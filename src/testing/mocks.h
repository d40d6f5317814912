/* mocks.h - a test's mocks, looked up when a step's body would run.  Texts live in the scope, so an answer of
 * pw_mocks.find() outlives pawl_world_unmock(). */
#ifndef PW_TESTING_MOCKS_H
#define PW_TESTING_MOCKS_H

#include "engine/engine.h"
#include "pawl/value.h"

struct pw_mock_entry;
struct pw_mock_list {
    struct pw_mocks hooks; /* what the engine sees */
    pawl_scope *scope;
    pthread_mutex_t lock;         /* guards the field below */
    struct pw_mock_entry *newest; /* or NULL */
};

void pw_mock_list_init(struct pw_mock_list *list, pawl_scope *scope, bool disable_sleeps);
void pw_mock_list_free(struct pw_mock_list *list);

#endif
