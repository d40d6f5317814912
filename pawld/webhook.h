/* webhook.h - tells a URL what happened: the deliver function of hooks (pawl/hooks.h), on libcurl.
 *
 * Each delivery is a POST of {"id", "event", "attempt", "createdAt", "payload"} with these headers:
 *     Pawl-Delivery    the id, the same at every attempt, to recognise what was told twice
 *     Pawl-Event       onWorkflowEnqueued, onInstanceFinished
 *     Pawl-Timestamp   when this attempt was sent, in seconds since 1970
 *     Pawl-Signature   "v1=" and the HMAC-SHA256, in hexadecimal, of timestamp "." body under the webhook's secret.
 *                      Compute it over the bytes received, compare in constant time, and refuse old timestamps
 * An answer of 2xx within the timeout is a delivery.  410 Gone means that nobody is there any more: it is not tried
 * again.  Everything else is tried again: it may be a mistake that somebody repairs.  Redirects are not followed, to no
 * host: a signed body goes where the configuration says and nowhere else; a 3xx is a failure that says so.  Errors and
 * logs name the URL without its query and its user, and never the secret. */
#ifndef PAWLD_WEBHOOK_H
#define PAWLD_WEBHOOK_H

#include <pawl/hooks.h>

#include "log.h"
#include "settings.h"

enum { WEBHOOK_TIMEOUT_MS = 10000 };

struct webhook {
    const struct webhook_settings *settings;
    const struct log *log;
    char url_shown[256];
};

/* Registers the hook.  *webhook and the settings are borrowed until the engine is closed; curl_global_init() comes
 * first. */
pawl_status webhook_register(struct webhook *webhook, const struct webhook_settings *settings, const struct log *log,
                             pawl_engine *engine, struct pawl_error *error);

#endif
