/* page.c - how much payload each kind of row has, which limits the size of a page; see page.h. */
#include "store/page.h"

size_t pw_instance_bytes(const void *instance)
{
    const struct pw_instance *row = instance;
    return row->params.size + row->output.size;
}

size_t pw_earlier_run_bytes(const void *run)
{
    return ((const struct pw_earlier_run *)run)->output.size;
}

size_t pw_step_bytes(const void *step)
{
    return ((const struct pw_step_row *)step)->result.size;
}

size_t pw_event_bytes(const void *event)
{
    return ((const struct pw_event_row *)event)->payload.size;
}

size_t pw_log_bytes(const void *log)
{
    return ((const struct pw_log_row *)log)->data.size;
}
