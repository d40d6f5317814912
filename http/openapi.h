/* openapi.h - the API's description in OpenAPI 3.1, written by hand in openapi.json and built into the library.
 * tests/http/test_openapi.c compares it with the table of routes and with the handler's real answers. */
#ifndef HTTP_OPENAPI_H
#define HTTP_OPENAPI_H

#include <stddef.h>

#include "common/json_writer.h"
#include "pawl/status.h"

/* The file as it is, followed by NUL.  It holds "{{version}}" and "{{mount}}" in place of the version and the
 * server's address. */
const char *pw_http_openapi(size_t *out_size);

/* Appends the description with the library's version and the mount filled in.  Fails only with PAWL_NOMEM. */
pawl_status pw_http_write_openapi(const char *mount, struct pw_buffer *out) PAWL_MUST_CHECK;

#endif
