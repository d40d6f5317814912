/* template.h - texts with values of a JSON answer in them.
 *
 * "{path}" stands for the value at that path: a text as it is, anything else as JSON.  "{path:how}" shows it otherwise:
 *     {createdAt:time}      14:02:11
 *     {createdAt:exact}     14:02:11.123
 *     {createdAt:ago}       3 min ago
 *     {output:json}         always as JSON, also a text or a null
 *     {error:error}         CardDeclined: no money
 *     {tags:list}           shop, eu
 *     {processed:instance}  any other word is a noun to count: "1 instance", "2 instances" */
#ifndef CLI_TEMPLATE_H
#define CLI_TEMPLATE_H

#include <jansson.h>
#include <stdint.h>

#include "pool.h"

/* In the pool.  NULL: one of the values is missing. */
const char *template_fill(struct pool *pool, const char *template, const json_t *value, int64_t now_ms);

#endif
