/* body.h - JSON bodies, read by a list of the fields that they may have.
 *
 * A body is checked as a whole, copied once, and taken apart in the copy: payloads are handed on as they were received.
 * Everything that is wrong with the fields is noted as issues, so that one answer tells all of it. */
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
    /* What was found. */
    bool is_given;
    char *text;     /* a string's content, a list as received, any JSON as received; NULL: not given */
    size_t size;    /* of a list, which does not end with NUL */
    int64_t number; /* 1: true */
};

/* False: answered, as the body is no JSON object, not JSON by its header, or has issues.  No body at all is an object
 * without members. */
bool pw_http_body_read(pawl_http_call *call, struct pw_http_field *fields, size_t count);

/* The same of an object inside, which is in the call's copy and is changed.  Only notes issues.  `path` is the object's. */
void pw_http_object_read(pawl_http_call *call, char *text, size_t size, const char *path, struct pw_http_field *fields,
                         size_t count);

/* The texts of a LIST field, at most max of them; where it has more, or something else, that is noted.  *out_texts lives
 * in the call's scope.  Answers how many there are. */
size_t pw_http_list_read(pawl_http_call *call, const struct pw_http_field *field, size_t max,
                         const char *const **out_texts);

#endif
