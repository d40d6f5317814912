/* sweep_place.c - finds where in the program a durable call stands: the first caller outside this library.
 *
 * The authoring calls are recognised by their addresses, so that this works for a program that links the library
 * statically.  A shared library is recognised as a whole.  The result is an address; a tool with debug information
 * can turn it into file and line. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include "testing/sweep.h"
#include "workflow/run.h"

typedef void any_function(void);

static any_function *const authoring_calls[] = {
    (any_function *)pawl_do,
    (any_function *)pawl_do_process,
    (any_function *)pw_run_do,
    (any_function *)pw_run_step,
    (any_function *)pawl_sleep,
    (any_function *)pawl_sleep_ms,
    (any_function *)pawl_sleep_until,
    (any_function *)pawl_all,
    (any_function *)pawl_first,
    (any_function *)pawl_wait_for_event,
    (any_function *)pawl_call,
    (any_function *)pawl_start_child,
    (any_function *)pawl_await_child,
    (any_function *)pawl_run_child,
    (any_function *)pawl_deferred_token,
    (any_function *)pawl_await_deferred,
    (any_function *)pawl_recall_step,
    (any_function *)pawl_recall_sleep,
    (any_function *)pawl_recall_event,
    (any_function *)pawl_recall_sleep_until,
    (any_function *)pawl_recall_call,
    (any_function *)pawl_recall_child,
    (any_function *)pawl_recall_token,
    (any_function *)pawl_recall_deferred,
    (any_function *)pawl_lane_all,
    (any_function *)pawl_lane_first,
};

static const struct link_map *object_of(const void *address, Dl_info *info)
{
    void *map = NULL;
    return dladdr1(address, info, &map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

static bool is_authoring_call(const void *function)
{
    for (size_t i = 0; i < sizeof authoring_calls / sizeof authoring_calls[0]; i++) {
        if ((uintptr_t)authoring_calls[i] == (uintptr_t)function)
            return true;
    }
    return false;
}

/* True if the address is in libpawl.so.  A program that links the library statically has no name there. */
static bool is_in_library(const void *address)
{
    Dl_info info;
    const struct link_map *own = object_of((const void *)(uintptr_t)is_in_library, &info);
    return own != NULL && own->l_name[0] != '\0' && own == object_of(address, &info);
}

struct search {
    bool inside; /* an authoring call was found */
    bool awaits; /* that call waits for a deferred */
    const void *found;
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *user)
{
    struct search *search = user;
    /* Inside the call instruction, not after it. */
    const char *address = (const char *)(uintptr_t)_Unwind_GetIP(context) - 1;
    const void *function = _Unwind_FindEnclosingFunction((void *)(uintptr_t)address);
    if ((uintptr_t)function == (uintptr_t)pw_sweep_advance)
        return _URC_END_OF_STACK; /* nothing found: the compiler turned the author's last call into a jump */
    bool is_one = is_authoring_call(function);
    search->inside = search->inside || is_one;
    search->awaits = search->awaits || (uintptr_t)function == (uintptr_t)pawl_recall_deferred;
    if (!search->inside || is_one || is_in_library(address))
        return _URC_NO_REASON;
    search->found = address;
    return _URC_END_OF_STACK;
}

const void *pw_sweep_place_find(bool *out_awaits)
{
    struct search search = { 0 };
    (void)_Unwind_Backtrace(look_at_frame, &search);
    *out_awaits = search.awaits;
    return search.found;
}

bool pw_sweep_place_tell(const void *place, const char **out_object, uint64_t *out_offset)
{
    Dl_info info;
    const struct link_map *map = place != NULL ? object_of(place, &info) : NULL;
    if (map == NULL || info.dli_fname == NULL)
        return false;
    *out_object = info.dli_fname;
    *out_offset = (uint64_t)((uintptr_t)place - map->l_addr);
    return true;
}
