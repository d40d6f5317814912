/* counting.h - counts what the library has its database do and what it copies, for a program that is linked with
 * --wrap= for each function of counting.c.  Of one thread: nothing else may run meanwhile.  What is counted, see
 * ../test_cost.c. */
#ifndef TESTS_COST_COUNTING_H
#define TESTS_COST_COUNTING_H

#include <stdbool.h>
#include <stddef.h>

struct cost {
    int statements, trips, copies;
};

/* From zero on; copies are those of at least so many bytes. */
void counting_begin(size_t copy_size);
struct cost counting_end(void);
/* False: copies stay 0, because a sanitizer sees to them. */
bool counting_sees_copies(void);

/* Around what does not count: there is no pause within a pause. */
void counting_pause(void);
void counting_go_on(void);

#endif
