/* patience.c - see patience.h. */
#include "patience.h"

#include <stdarg.h>
#include <stdio.h>

enum { MOMENT_MS = 1000 };

static void *tell(void *user)
{
    struct patience *patience = user;
    const struct timespec until = pw_cond_moment(MOMENT_MS);
    int code = 0;
    (void)pthread_mutex_lock(&patience->helper.lock);
    while (!patience->helper.is_stopped && code == 0)
        code = pthread_cond_timedwait(&patience->helper.changed, &patience->helper.lock, &until);
    if (!patience->helper.is_stopped)
        log_line(patience->log, PAWL_LOG_WARN, "%s", patience->text);
    (void)pthread_mutex_unlock(&patience->helper.lock);
    return NULL;
}

void patience_begin(struct patience *patience, const struct log *log, const char *format, ...)
{
    va_list arguments;
    *patience = (struct patience){ .log = log };
    va_start(arguments, format);
    (void)vsnprintf(patience->text, sizeof patience->text, format, arguments);
    pawl_text_mend(patience->text);
    va_end(arguments);
    patience->is_open = pw_helper_init(&patience->helper);
    if (patience->is_open)
        (void)pw_helper_start(&patience->helper, tell, patience);
}

void patience_end(struct patience *patience)
{
    if (patience->is_open)
        pw_helper_clear(&patience->helper);
}
