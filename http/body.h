/* body.h - reads JSON bodies by a list of the fields that they may have.
 *
 * A body is checked as a whole, copied once and taken apart in the copy.  Payloads are passed on as they were
 * received.  Every wrong field is noted as an issue, so that one answer names all of them. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "http/call.h"

enum pw_http_kind {
    PW_HTTP_STRING,
    PW_HTTP_COUNT, /* a whole number from 1 on */
    PW_HTTP_RANGE, /* a whole number from min to max */
    PW_HTTP_BOOL,
    PW_HTTP_LIST,
    PW_HTTP_ANY
};

struct pw_http_field {
    const char *name;
    enum pw_http_kind kind;
    bool is_required;
    int64_t min, max; /* of a RANGE */
    /* Filled in by reading. */
    bool is_given;
    char *text;     /* a string's content, or the JSON of a list or an ANY as received; NULL: not given */
    size_t size;    /* of a list, whose text does not end with NUL */
    int64_t number; /* of a BOOL: 1 is true */
};

/* Returns false if the call is answered: the body is not a JSON object, its headers do not say JSON, or it has
 * issues.  A request without a body counts as an empty object. */
bool pw_http_body_read(pawl_http_call *call, struct pw_http_field *fields, size_t count);

/* The same for a nested object at `path`.  It lies in the call's copy, which this changes.  Only notes issues. */
void pw_http_object_read(pawl_http_call *call, char *text, size_t size, const char *path, struct pw_http_field *fields,
                         size_t count);

/* Reads a LIST field of at most max strings and returns how many there are.  Longer lists and other elements are
 * noted as issues. *out_texts lives in the call's scope. */
size_t pw_http_list_read(pawl_http_call *call, const struct pw_http_field *field, size_t max,
                         const char *const **out_texts);

#endif
