/* retry.c - see retry.h.  Every product is checked, because the numbers of a policy come from the user. */
#include "history/retry.h"

#include "base/limits.h"

void pawl_policy_default(struct pawl_policy *out_policy)
{
    *out_policy = (struct pawl_policy){
        .retries_max = 5, .delay_ms = 10000, .backoff = PAWL_BACKOFF_EXPONENTIAL, .timeout_ms = 600000
    };
}

const char *pawl_policy_wrong(const struct pawl_policy *policy)
{
    if (policy->retries_max < 0)
        return "retries are 0 or more";
    if (policy->delay_ms < 0 || policy->delay_ms > PW_DELAY_MS_MAX)
        return "the delay before a retry is 0 ms to 365 days";
    if (policy->timeout_ms <= 0 || policy->timeout_ms > PW_DELAY_MS_MAX)
        return "the timeout of an attempt is 1 ms to 365 days";
    if (policy->backoff < PAWL_BACKOFF_DEFAULT || policy->backoff > PAWL_BACKOFF_EXPONENTIAL)
        return "the backoff is constant, linear or exponential";
    return NULL;
}

int64_t pw_policy_attempts_max(const struct pawl_policy *policy)
{
    return policy->retries_max == PAWL_RETRIES_UNLIMITED ? 0 : policy->retries_max + 1;
}

bool pw_attempts_left(int64_t attempts, int64_t attempts_max)
{
    return attempts_max == 0 || attempts < attempts_max;
}

static int64_t backoff_factor(enum pawl_backoff backoff, int64_t attempt)
{
    switch (backoff) {
    case PAWL_BACKOFF_CONSTANT:
        return 1;
    case PAWL_BACKOFF_LINEAR:
        return attempt;
    case PAWL_BACKOFF_DEFAULT:
    case PAWL_BACKOFF_EXPONENTIAL:
        return attempt <= 62 ? INT64_C(1) << (attempt - 1) : INT64_MAX;
    }
    return 1;
}

int64_t pw_retry_delay_ms(const struct pawl_policy *policy, int64_t attempt)
{
    int64_t delay_ms;
    if (__builtin_mul_overflow(policy->delay_ms, backoff_factor(policy->backoff, attempt), &delay_ms) ||
        delay_ms > PW_DELAY_MS_MAX)
        return PW_DELAY_MS_MAX;
    return delay_ms;
}

int64_t pw_time_after(int64_t now_ms, int64_t delay_ms)
{
    int64_t at_ms;
    if (__builtin_add_overflow(now_ms, delay_ms, &at_ms) || at_ms > PW_TIME_MS_MAX)
        return PW_TIME_MS_MAX;
    return at_ms;
}
