/* fuzz_duration.c - durations as people write them.  Whatever is accepted is not negative, and means the same when it is
 * said in milliseconds; a unit never makes it shorter. */
#include <inttypes.h>
#include <stdio.h>

#include "common/duration.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    char *text = fuzz_string(fuzz_rest(&input));
    int64_t ms = -1, again = -1;
    if (pw_duration_parse(text, &ms)) {
        char plain[32];
        assert(ms >= 0);
        (void)snprintf(plain, sizeof plain, "%" PRId64, ms);
        assert(pw_duration_parse(plain, &again) && again == ms);
        (void)snprintf(plain, sizeof plain, "%" PRId64 " ms", ms);
        assert(pw_duration_parse(plain, &again) && again == ms);
        (void)snprintf(plain, sizeof plain, "%" PRId64 "s", ms);
        if (pw_duration_parse(plain, &again))
            assert(again / 1000 == ms);
        else
            assert(ms > INT64_MAX / 1000);
    } else {
        assert(ms == -1);
    }
    free(text);
    return 0;
}
