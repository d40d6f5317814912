/* webhook.h - delivers hooks (pawl/hooks.h) to a URL, on libcurl.
 *
 * Each delivery is a POST of {"id", "event", "attempt", "createdAt", "payload"} with these headers:
 *     Pawl-Delivery    the id; it is the same for every attempt, so that receivers can recognise repetitions
 *     Pawl-Event       onWorkflowEnqueued or onInstanceFinished
 *     Pawl-Timestamp   when this attempt was sent, in seconds since 1970
 *     Pawl-Signature   "v1=" and the HMAC-SHA256, in hexadecimal, of timestamp "." body under the webhook's secret.
 *                      Compute it over the bytes received, compare in constant time, and refuse old timestamps
 * A 2xx answer within the timeout ends the delivery. 410 Gone ends it as failed.  Every other answer is retried,
 * because somebody may repair the cause.  Redirects are not followed and count as failures, so that a signed body
 * only goes where the configuration says.  Errors and logs show only scheme, host and port of the URL, and never the
 * secret. */
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

/* Registers the hook. *webhook and the settings are borrowed until the engine is closed.  Call curl_global_init()
 * first. */
pawl_status webhook_register(struct webhook *webhook, const struct webhook_settings *settings, const struct log *log,
                             pawl_engine *engine, struct pawl_error *error);

#endif
