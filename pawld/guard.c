/* guard.c - see guard.h. */
#include "guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Returns NULL if the request has no such header. */
static const char *header_of(const struct pawl_http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (strcasecmp(request->headers[i].name, name) == 0)
            return request->headers[i].value;
    }
    return NULL;
}

/* Takes the host out of "host:port", without brackets.  Returns false if it is too long. */
static bool take_host(const char *text, char out_host[256])
{
    bool is_bracketed = text[0] == '[';
    size_t size = is_bracketed ? strcspn(text + 1, "]") : strcspn(text, ":");
    if (size >= 256)
        return false;
    memcpy(out_host, text + is_bracketed, size);
    out_host[size] = '\0';
    return true;
}

static bool is_loopback_name(const char *host)
{
    static const char suffix[] = ".localhost";
    unsigned char bytes[16];
    size_t size = strlen(host);
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (size >= sizeof suffix && strcasecmp(host + size - (sizeof suffix - 1), suffix) == 0)
        return true; /* these names are loopback by definition */
    if (inet_pton(AF_INET, host, bytes) == 1)
        return bytes[0] == 127;
    return inet_pton(AF_INET6, host, bytes) == 1 && memcmp(bytes, &in6addr_loopback, sizeof bytes) == 0;
}

static bool is_ours(const struct guard *guard, const char *host_and_port)
{
    char host[256];
    if (!take_host(host_and_port, host))
        return false;
    for (size_t i = 0; i < guard->host_count; i++) {
        if (strcasecmp(host, guard->hosts[i]) == 0)
            return true;
    }
    return is_loopback_name(host);
}

/* True for requests of the API's own pages, and of pages that --cors allows. */
static bool may_ask(const struct guard *guard, const char *origin, const char *host)
{
    const char *authority = strstr(origin, "://");
    if (guard->cors != NULL && (strcmp(guard->cors, "*") == 0 || strcmp(guard->cors, origin) == 0))
        return true;
    return authority != NULL && host != NULL && strcasecmp(authority + 3, host) == 0;
}

static bool refuse(struct pawl_http_refusal *refusal, const char *message)
{
    refusal->status = 403;
    (void)snprintf(refusal->code, sizeof refusal->code, "FORBIDDEN");
    (void)snprintf(refusal->message, sizeof refusal->message, "%s", message);
    return false;
}

bool guard_allows(const struct guard *guard, const struct pawl_http_subject *subject,
                  struct pawl_http_refusal *out_refusal)
{
    const struct pawl_http_request *request = subject->request;
    const char *host = header_of(request, "Host"), *origin = header_of(request, "Origin");
    bool is_unix = request->peer != NULL && strcmp(request->peer, "unix") == 0;   /* browsers cannot use Unix sockets */
    if (subject->scope == PAWL_HTTP_OPEN || subject->scope == PAWL_HTTP_DEFERRED) /* the token authorizes */
        return true;
    if (!is_unix && host != NULL && !is_ours(guard, host))
        return refuse(out_refusal, "unknown Host; without tokens only localhost is allowed");
    if (origin != NULL && !may_ask(guard, origin, host))
        return refuse(out_refusal, "pages of this Origin are not allowed; allow one with --cors, or use tokens");
    return true;
}
