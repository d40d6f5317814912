/* answer.h - how a call is answered.  Each of these ends it, but for those that only add.  JSON that was written into
 * call->out before is the body of pw_http_answer_json(), and is dropped by the others.  Those that answer return PAWL_OK, for
 * a step to return. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include "http/call.h"

pawl_status pw_http_answer_json(pawl_http_call *call, int status);
pawl_status pw_http_answer_object(pawl_http_call *call, int status); /* the same; closes the object first */
/* call->out, as it stands. */
pawl_status pw_http_answer_text(pawl_http_call *call, const char *content_type);
pawl_status pw_http_answer_empty(pawl_http_call *call); /* 204 */
pawl_status pw_http_answer_ok(pawl_http_call *call);    /* {"ok":true} */
/* A stream's head; call->out are its first bytes. */
pawl_status pw_http_answer_stream(pawl_http_call *call);

/* {"code", "message"}.  429 and 5xx other than 500 carry Retry-After. */
pawl_status pw_http_fail(pawl_http_call *call, int status, const char *code, const char *format, ...) PAWL_PRINTF(4, 5);
/* What a status of the engine is to a client; the text is call->error's, where it may be told. */
void pw_http_fail_status(pawl_http_call *call, pawl_status status);
/* 503: the memory that this needs is not to be had now. */
#define PW_HTTP_OVER_BUDGET "MEMORY_EXHAUSTED"
#define PW_HTTP_OVER_BUDGET_TEXT "other requests and runs use all the memory that there is for them; try again"
pawl_status pw_http_fail_over_budget(pawl_http_call *call);
/* Is it one that goes away by itself? */
bool pw_http_is_passing(pawl_status status);

/* Notes what is wrong with a part of the request, by its path: "instances[2].id". */
void pw_http_issue(pawl_http_call *call, const char *path, const char *format, ...) PAWL_PRINTF(3, 4);
/* 400 VALIDATION_FAILED with the issues noted; 503 when memory was out for them.  False: there are none, and nothing is
 * answered. */
bool pw_http_fail_issues(pawl_http_call *call);

/* Both are borrowed until the call is freed. */
void pw_http_add_header(pawl_http_call *call, const char *name, const char *value);
void pw_http_add_retry_after(pawl_http_call *call, int32_t seconds);

#endif
