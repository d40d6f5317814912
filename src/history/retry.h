/* retry.h - when a failed attempt is tried again.  Pure functions. */
#ifndef PW_HISTORY_RETRY_H
#define PW_HISTORY_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "pawl/engine.h"

/* retries_max + 1, as stored; 0 for unlimited. */
int64_t pw_policy_attempts_max(const struct pawl_policy *policy);

/* True if another attempt may follow the `attempts` made so far. */
bool pw_attempts_left(int64_t attempts, int64_t attempts_max);

/* The wait after attempt number `attempt` (from 1) has failed: d, d*n or d*2^(n-1), at most 365 days. */
int64_t pw_retry_delay_ms(const struct pawl_policy *policy, int64_t attempt);

/* now + delay, limited to the largest time that can be stored. */
int64_t pw_time_after(int64_t now_ms, int64_t delay_ms);

#endif
