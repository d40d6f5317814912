/* patience.c - see patience.h. */
#include "patience.h"

#include <stdarg.h>
#include <stdio.h>

#include "condition.h"

enum { MOMENT_MS = 1000 };

static void *tell(void *user)
{
    struct patience *patience = user;
    const struct timespec until = condition_in(MOMENT_MS);
    int code = 0;
    (void)pthread_mutex_lock(&patience->lock);
    while (!patience->is_over && code == 0)
        code = pthread_cond_timedwait(&patience->changed, &patience->lock, &until);
    if (!patience->is_over)
        log_line(patience->log, PAWL_LOG_WARN, "%s", patience->text);
    (void)pthread_mutex_unlock(&patience->lock);
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
    if (pthread_mutex_init(&patience->lock, NULL) != 0)
        return;
    if (!condition_init(&patience->changed)) {
        (void)pthread_mutex_destroy(&patience->lock);
        return;
    }
    patience->has_teller = pthread_create(&patience->teller, NULL, tell, patience) == 0;
    if (!patience->has_teller) {
        (void)pthread_cond_destroy(&patience->changed);
        (void)pthread_mutex_destroy(&patience->lock);
    }
}

void patience_end(struct patience *patience)
{
    if (!patience->has_teller)
        return;
    (void)pthread_mutex_lock(&patience->lock);
    patience->is_over = true;
    (void)pthread_cond_signal(&patience->changed);
    (void)pthread_mutex_unlock(&patience->lock);
    (void)pthread_join(patience->teller, NULL);
    (void)pthread_cond_destroy(&patience->changed);
    (void)pthread_mutex_destroy(&patience->lock);
}
