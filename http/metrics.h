/* metrics.h - the figures of the engine, its store, its runner and this handler, as Prometheus reads them (text format
 * 0.0.4).  Always answers: while the store cannot be asked, pawl_store_up is 0 and what stands in it is left out. */
#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include "common/json_writer.h"
#include "pawl/http.h"

#define PW_HTTP_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* One label of a sample, with the character that goes before it; its value is escaped. */
void pw_http_metrics_label(struct pw_buffer *out, char before, const char *name, const char *value);

/* Appends to the text.  PAWL_NOMEM is all that it can fail with. */
pawl_status pw_http_write_metrics(pawl_http *http, bool asks_store, struct pw_buffer *out) PAWL_MUST_CHECK;

#endif
