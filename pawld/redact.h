/* redact.h - what may be told of a store: its URLs without their passwords.
 *
 * What is hidden is more than libpq takes for the password.  Its password ends at the first '@', and there is none
 * behind a '/'; who wrote one with these characters in it meant more, and that is not told either. */
#ifndef PAWLD_REDACT_H
#define PAWLD_REDACT_H

#include <pawl/value.h>

/* The store, which may be a list of URLs that pawl_open() will refuse, with "***" for
 *   - what is between the first ':' behind "//" and the last '@',
 *   - the value of a key of the query that names a secret, percent-encoded or not, and all of that URL behind it.
 * The same pointer: it has no secret.  "": out of memory. */
const char *redact_store(pawl_scope *scope, const char *store);

/* Why the store was not opened, as the library says it in `why`, or less where that may hold a part of a secret. */
const char *redact_reason(pawl_scope *scope, const char *store, const struct pawl_error *why);

#endif
