/* bar.c - counts the bars of the calling thread; see bar.h. */
#include "base/bar.h"

#include <assert.h>

/* The only variable of the library outside a struct, because it concerns the thread, whichever engine it works for.  Its TLS model
 * is one that needs no call, because it is read often. */
static _Thread_local int store_bars __attribute__((tls_model("initial-exec")));

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
