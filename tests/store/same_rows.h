/* same_rows.h - what two stores answer is the same, but for keys, which each hands out for itself. */
#ifndef TESTS_SAME_ROWS_H
#define TESTS_SAME_ROWS_H

#include "store/store.h"

void assert_same_claim(const struct pw_claim *left, const struct pw_claim *right);
void assert_same_instance(const struct pw_instance *left, const struct pw_instance *right);
void assert_same_earlier_run(const struct pw_earlier_run *left, const struct pw_earlier_run *right);
void assert_same_step_row(const struct pw_step_row *left, const struct pw_step_row *right);
void assert_same_event(const struct pw_event_row *left, const struct pw_event_row *right);
void assert_same_log(const struct pw_log_row *left, const struct pw_log_row *right);
void assert_same_hook(const struct pw_hook_row *left, const struct pw_hook_row *right);

#endif
