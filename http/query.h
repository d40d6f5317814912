/* query.h - reads the query parameters of a route.  Wrong values are noted as issues (answer.h) and leave the
 * defaults. */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include "http/call.h"

/* Notes keys that the route does not take, keys given twice, and empty values. */
void pw_http_query_check(pawl_http_call *call, const char *const *keys);

const char *pw_http_query(const pawl_http_call *call, const char *key); /* NULL: not given */
/* Returns false, and writes nothing, if it is not given or wrong. */
bool pw_http_query_integer(pawl_http_call *call, const char *key, int64_t min, int64_t max, int64_t *out_number);
/* Finds the value in a list of words that ends with NULL, and returns its position. */
bool pw_http_query_word(pawl_http_call *call, const char *key, const char *const *words, size_t *out_position);
void pw_http_query_page_size(pawl_http_call *call, int32_t *out_size);
void pw_http_query_order(pawl_http_call *call, enum pawl_order *out_order); /* "asc" or "desc" */

#endif
