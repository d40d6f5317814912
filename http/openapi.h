/* openapi.h - the API's description, OpenAPI 3.1, written by hand in openapi.json and built into the library.
 * tests/http/test_openapi.c compares it with the table of routes and with what the handler really answers. */
#ifndef HTTP_OPENAPI_H
#define HTTP_OPENAPI_H

#include <stddef.h>

#include "common/json_writer.h"
#include "pawl/status.h"

/* The file as it is, with a NUL behind it.  The version and the server's address stand in it as "{{version}}" and
 * "{{mount}}". */
const char *pw_http_openapi(size_t *out_size);

/* Appends it with both filled in: the version of the library, and where the API is mounted.  PAWL_NOMEM is all that it
 * can fail with. */
pawl_status pw_http_write_openapi(const char *mount, struct pw_buffer *out) PAWL_MUST_CHECK;

#endif
