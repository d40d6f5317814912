/* metrics.h - metrics of the engine, its store, its runner and this handler, in Prometheus' text format 0.0.4.  They
 * are served even while the store is down: pawl_store_up is then 0, and the metrics that need the store are left
 * out. */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include "common/json_writer.h"
#include "pawl/http.h"

#define PW_HTTP_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Writes one label of a sample after the character `before`, with its value escaped. */
void pw_http_metrics_label(struct pw_buffer *out, char before, const char *name, const char *value);

/* Appends all metrics to the text.  Fails only with PAWL_NOMEM. */
pawl_status pw_http_write_metrics(pawl_http *http, bool asks_store, struct pw_buffer *out) PAWL_MUST_CHECK;

#endif
