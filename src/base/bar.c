/* bar.c - see bar.h. */
#include "base/bar.h"

#include <assert.h>

/* The one variable of the library that is in no struct: it is about the thread, whichever engine it works for. */
static _Thread_local int store_bars
    __attribute__((tls_model("initial-exec"))); /* found without a call, as it is asked often */

void pw_bar_store(void)
{
    store_bars++;
}

void pw_unbar_store(void)
{
    store_bars--;
}

bool pw_store_is_barred(void)
{
    return store_bars > 0;
}

void pw_assert_store_is_free(void)
{
#ifdef PAWL_ASSERT_STORE_CALLS
    assert(store_bars == 0);
#endif
}
