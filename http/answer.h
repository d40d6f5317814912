/* answer.h - how a call is answered.
 *
 * The pw_http_answer_*() and pw_http_fail*() functions end the call; pw_http_add_*() and pw_http_issue() only add to
 * it.  pw_http_answer_json() sends the JSON that was written to call->out as the body.  The functions that fail drop
 * what call->out holds.  Functions that return a status return PAWL_OK, so that a step can return their result. */
#ifndef HTTP_ANSWER_H
#define HTTP_ANSWER_H

#include "http/call.h"

pawl_status pw_http_answer_json(pawl_http_call *call, int status);
pawl_status pw_http_answer_object(pawl_http_call *call, int status); /* closes the object in call->out first */
/* Sends call->out as it stands. */
pawl_status pw_http_answer_text(pawl_http_call *call, const char *content_type);
pawl_status pw_http_answer_empty(pawl_http_call *call); /* 204 */
pawl_status pw_http_answer_ok(pawl_http_call *call);    /* {"ok":true} */
/* Sends a stream's head. call->out holds the stream's first bytes. */
pawl_status pw_http_answer_stream(pawl_http_call *call);

/* Answers {"code", "message"}. 429 and 503 carry Retry-After. */
pawl_status pw_http_fail(pawl_http_call *call, int status, const char *code, const char *format, ...) PAWL_PRINTF(4, 5);
/* Answers with the HTTP status that corresponds to the engine's.  The text is call->error's for 4xx and a general
 * one for 5xx. */
void pw_http_fail_status(pawl_http_call *call, pawl_status status);
/* 503: the engine's memory budget is used up. */
#define PW_HTTP_OVER_BUDGET "MEMORY_EXHAUSTED"
#define PW_HTTP_OVER_BUDGET_TEXT "other requests and runs have used up the memory budget; try again"
pawl_status pw_http_fail_over_budget(pawl_http_call *call);
/* True for failures that pass by themselves, such as a busy store: the client gets 503 and may try again. */
bool pw_http_is_passing(pawl_status status);

/* Notes what is wrong with the part of the request at this path, such as "instances[2].id". */
void pw_http_issue(pawl_http_call *call, const char *path, const char *format, ...) PAWL_PRINTF(3, 4);
/* Answers 400 VALIDATION_FAILED with the noted issues, or 503 if there was no memory to note them.  Returns false,
 * and answers nothing, if there are none. */
bool pw_http_fail_issues(pawl_http_call *call);

/* Name and value are borrowed until the call is freed. */
void pw_http_add_header(pawl_http_call *call, const char *name, const char *value);
void pw_http_add_retry_after(pawl_http_call *call, int32_t seconds);

#endif
