/* tokens.c - bearer tokens, for hosts without an authorization of their own.
 *
 * Only a token's SHA-256 is kept.  A plain hash without salt is enough, because a token has 256 random bits and
 * cannot be guessed.  A request's token is hashed and compared with every hash in constant time, so that timing
 * reveals nothing.  Error texts never contain a token, nor a line that may hold one by mistake.
 *
 * Each token has a bucket of requests.  It fills at the limit's rate and holds one second's worth. */
#include "pawl/http.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { SECRET_SIZE = 32, HASH_SIZE = 32, NAME_SIZE_MAX = 64, TOKENS_MAX = 10000, WAIT_S_MAX = 86400 };
enum { PERMISSIONS_SIZE_MAX = 512 };

static const char token_prefix[] = "pawl_";
static const char hash_prefix[] = "sha256:";
static const char permissions_prefix[] = "permissions:";
#define SCOPES_WANTED "read, create, manage, event, tick, work"

struct token {
    char name[NAME_SIZE_MAX + 1];
    unsigned scopes;   /* a bit for each pawl_http_scope */
    char *permissions; /* joined by commas; owned; NULL: none */
    unsigned char hash[HASH_SIZE];
    double bucket; /* how many requests it may make now */
    double filled_at_s;
};

struct pawl_tokens {
    pthread_mutex_t lock; /* guards all members */
    struct token *items;
    size_t count;
    double per_second; /* 0: no limit */
};

static PAWL_PRINTF(3, 4) pawl_status fail(struct pawl_error *error, pawl_status status, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        (void)vsnprintf(error->text, sizeof error->text, format, arguments);
        pawl_text_mend(error->text);
        va_end(arguments);
    }
    return status;
}

/* ---- Names, scopes, permissions, hashes -------------------------------------------------------------------------- */

static bool is_name(const char *text, size_t size)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return size > 0 && size <= NAME_SIZE_MAX && strspn(text, allowed) >= size;
}

static unsigned bit_of(enum pawl_http_scope scope)
{
    return 1U << (unsigned)scope;
}

/* Requests with these scopes need no token, so a token cannot have them. */
static bool is_for_tokens(enum pawl_http_scope scope)
{
    return scope != PAWL_HTTP_OPEN && scope != PAWL_HTTP_DEFERRED;
}

/* Returns 0 for an unknown scope. */
static unsigned scope_bit(const char *text, size_t size)
{
    for (enum pawl_http_scope scope = PAWL_HTTP_OPEN; scope < PAWL_HTTP_SCOPE_COUNT; scope++) {
        const char *name = pawl_http_scope_name(scope);
        if (is_for_tokens(scope) && strlen(name) == size && memcmp(name, text, size) == 0)
            return bit_of(scope);
    }
    return 0;
}

static pawl_status parse_scopes(const char *text, size_t size, unsigned *out_scopes, struct pawl_error *error)
{
    unsigned scopes = 0;
    for (const char *at = text, *end = text + size;; at++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t length = (size_t)((comma != NULL ? comma : end) - at);
        unsigned bit = scope_bit(at, length);
        if (bit == 0)
            return fail(error, PAWL_INVALID, "scopes are " SCOPES_WANTED ", joined by commas; \"%.*s\" is none of them",
                        (int)(length < 32 ? length : 32), at);
        scopes |= bit;
        at += length;
        if (at == end)
            break;
    }
    *out_scopes = scopes;
    return PAWL_OK;
}

/* Writes scopes in a fixed order. */
static void write_scopes(unsigned scopes, char *out_text, size_t size)
{
    size_t used = 0;
    out_text[0] = '\0';
    for (enum pawl_http_scope scope = PAWL_HTTP_READ; scope < PAWL_HTTP_SCOPE_COUNT && used < size; scope++) {
        if ((scopes & bit_of(scope)) != 0)
            used += (size_t)snprintf(out_text + used, size - used, "%s%s", used > 0 ? "," : "",
                                     pawl_http_scope_name(scope));
    }
}

/* Finds the next permission of a list joined by commas.  Returns false at the end. */
static bool next_permission(const char **at, const char **out_text, size_t *out_size)
{
    if (*at == NULL)
        return false;
    *out_text = *at;
    *out_size = strcspn(*at, ",");
    *at = (*at)[*out_size] == ',' ? *at + *out_size + 1 : NULL;
    return true;
}

static bool are_permissions(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
    const char *permission;
    size_t size;
    if (strlen(text) > PERMISSIONS_SIZE_MAX)
        return false;
    while (next_permission(&text, &permission, &size)) {
        if (size == 0 || size > NAME_SIZE_MAX || strspn(permission, allowed) != size)
            return false;
    }
    return true;
}

static bool has_permission(const char *permissions, const char *wanted)
{
    const char *permission;
    size_t size;
    while (next_permission(&permissions, &permission, &size)) {
        if (strlen(wanted) == size && memcmp(permission, wanted, size) == 0)
            return true;
    }
    return false;
}

static bool hash_text(const char *text, size_t size, unsigned char out_hash[HASH_SIZE])
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, text, size, out_hash) == 0;
}

static void write_hash(const unsigned char hash[HASH_SIZE], char out_text[2 * HASH_SIZE + 1])
{
    for (size_t i = 0; i < HASH_SIZE; i++)
        (void)snprintf(out_text + 2 * i, 3, "%02x", hash[i]);
}

static int hexadecimal(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

static bool parse_hash(const char *text, size_t size, unsigned char out_hash[HASH_SIZE])
{
    const size_t prefix = sizeof hash_prefix - 1;
    if (size != prefix + 2 * HASH_SIZE || memcmp(text, hash_prefix, prefix) != 0)
        return false;
    for (size_t i = 0; i < HASH_SIZE; i++) {
        int high = hexadecimal(text[prefix + 2 * i]), low = hexadecimal(text[prefix + 2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out_hash[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Writes base 32, five bits a letter.  That takes 52 letters, while hexadecimal would not fit into PAWL_TOKEN_SIZE. */
static void write_token(const unsigned char secret[SECRET_SIZE], char out_token[PAWL_TOKEN_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    size_t used = sizeof token_prefix - 1;
    unsigned held = 0, bits = 0;
    memcpy(out_token, token_prefix, used);
    for (size_t i = 0; i < SECRET_SIZE; i++) {
        held = (held << 8 | secret[i]) & 0xfff;
        for (bits += 8; bits >= 5; bits -= 5)
            out_token[used++] = letters[held >> (bits - 5) & 31];
    }
    if (bits > 0)
        out_token[used++] = letters[held << (5 - bits) & 31];
    out_token[used] = '\0';
}

_Static_assert(sizeof token_prefix + (SECRET_SIZE * 8 + 4) / 5 <= PAWL_TOKEN_SIZE, "a token fits its buffer");

_Static_assert(NAME_SIZE_MAX + 64 + sizeof hash_prefix + 2 * HASH_SIZE + sizeof permissions_prefix +
                       PERMISSIONS_SIZE_MAX + 4 <=
                   PAWL_TOKEN_LINE_SIZE,
               "a line fits its buffer");

static pawl_status check_new(const char *name, const char *permissions, struct pawl_error *error)
{
    if (!is_name(name, strlen(name)))
        return fail(error, PAWL_INVALID, "a token's name is 1 to %d of [a-zA-Z0-9_.-], not \"%.80s\"", NAME_SIZE_MAX,
                    name);
    if (permissions != NULL && !are_permissions(permissions))
        return fail(
            error, PAWL_INVALID,
            "permissions are 1 to %d of [a-zA-Z0-9_.:/-] each, joined by commas, %d bytes in all; not \"%.80s\"",
            NAME_SIZE_MAX, PERMISSIONS_SIZE_MAX, permissions);
    return PAWL_OK;
}

pawl_status pawl_token_make(const char *name, const char *scopes, const char *permissions,
                            char out_token[PAWL_TOKEN_SIZE], char out_line[PAWL_TOKEN_LINE_SIZE],
                            struct pawl_error *error)
{
    unsigned char secret[SECRET_SIZE], hash[HASH_SIZE];
    char hash_shown[2 * HASH_SIZE + 1], scopes_shown[64], token[PAWL_TOKEN_SIZE];
    unsigned scope_bits;
    if (name == NULL || scopes == NULL || out_token == NULL || out_line == NULL)
        return fail(error, PAWL_INVALID, "a name, scopes and room for the token and its line are needed");
    pawl_status status = check_new(name, permissions, error);
    if (status == PAWL_OK)
        status = parse_scopes(scopes, strlen(scopes), &scope_bits, error);
    if (status != PAWL_OK)
        return status;
    if (gnutls_rnd(GNUTLS_RND_KEY, secret, sizeof secret) != 0)
        return fail(error, PAWL_STOPPED, "no randomness is available to make a token");
    write_token(secret, token);
    gnutls_memset(secret, 0, sizeof secret);
    if (!hash_text(token, strlen(token), hash))
        return fail(error, PAWL_NOMEM, "cannot hash the token");
    write_hash(hash, hash_shown);
    write_scopes(scope_bits, scopes_shown, sizeof scopes_shown);
    (void)snprintf(out_line, PAWL_TOKEN_LINE_SIZE, "%s %s %s%s%s%s%s", name, scopes_shown, hash_prefix, hash_shown,
                   permissions != NULL ? " " : "", permissions != NULL ? permissions_prefix : "",
                   permissions != NULL ? permissions : "");
    memcpy(out_token, token, sizeof token);
    gnutls_memset(token, 0, sizeof token);
    return PAWL_OK;
}

/* ---- Keeping ----------------------------------------------------------------------------------------------------- */

pawl_tokens *pawl_tokens_new(void)
{
    pawl_tokens *tokens = calloc(1, sizeof *tokens);
    if (tokens != NULL && pthread_mutex_init(&tokens->lock, NULL) != 0) {
        free(tokens);
        return NULL;
    }
    return tokens;
}

void pawl_tokens_free(pawl_tokens *tokens)
{
    if (tokens == NULL)
        return;
    (void)pthread_mutex_destroy(&tokens->lock);
    for (size_t i = 0; i < tokens->count; i++)
        free(tokens->items[i].permissions);
    free(tokens->items);
    free(tokens);
}

static const char white_space[] = " \t\r\n";

static bool next_word(const char **at, const char **out_word, size_t *out_size)
{
    *out_word = *at + strspn(*at, white_space);
    *out_size = strcspn(*out_word, white_space);
    *at = *out_word + *out_size;
    return *out_size > 0;
}

/* Parses what follows the hash: nothing, or permissions. */
static pawl_status parse_permissions(const char *at, const char *wanted, struct token *out_token,
                                     struct pawl_error *error)
{
    const size_t prefix = sizeof permissions_prefix - 1;
    const char *text, *more;
    size_t size, more_size;
    if (!next_word(&at, &text, &size))
        return PAWL_OK;
    if (size < prefix || memcmp(text, permissions_prefix, prefix) != 0 || next_word(&at, &more, &more_size))
        return fail(error, PAWL_INVALID, "%s", wanted);
    char *permissions = strndup(text + prefix, size - prefix);
    if (permissions == NULL)
        return fail(error, PAWL_NOMEM, "out of memory");
    if (!are_permissions(permissions)) {
        free(permissions);
        return fail(error, PAWL_INVALID, "%s; its permissions are names joined by commas", wanted);
    }
    out_token->permissions = permissions;
    return PAWL_OK;
}

/* The error does not quote the line, because somebody may have put the token itself there. */
static pawl_status parse_line(const char *line, struct token *out_token, struct pawl_error *error)
{
    static const char wanted[] = "a token's line is \"name scope,scope sha256:hex\", as it was printed with the token";
    const char *at = line, *name, *scopes, *hash;
    size_t name_size, scopes_size, hash_size;
    if (!next_word(&at, &name, &name_size) || !next_word(&at, &scopes, &scopes_size) ||
        !next_word(&at, &hash, &hash_size))
        return fail(error, PAWL_INVALID, "%s", wanted);
    if (!is_name(name, name_size) || strncmp(name, token_prefix, sizeof token_prefix - 1) == 0)
        return fail(error, PAWL_INVALID, "%s; its name is 1 to %d of [a-zA-Z0-9_.-]", wanted, NAME_SIZE_MAX);
    if (!parse_hash(hash, hash_size, out_token->hash))
        return fail(error, PAWL_INVALID, "%s; the hash is sha256: and %d hexadecimal digits", wanted, 2 * HASH_SIZE);
    if (parse_scopes(scopes, scopes_size, &out_token->scopes, NULL) != PAWL_OK)
        return fail(error, PAWL_INVALID, "%s; its scopes are " SCOPES_WANTED ", joined by commas", wanted);
    memcpy(out_token->name, name, name_size);
    out_token->name[name_size] = '\0';
    return parse_permissions(at, wanted, out_token, error);
}

/* Needs the lock. */
static pawl_status keep(pawl_tokens *tokens, const struct token *token, struct pawl_error *error)
{
    for (size_t i = 0; i < tokens->count; i++) {
        if (memcmp(tokens->items[i].hash, token->hash, HASH_SIZE) == 0)
            return fail(error, PAWL_INVALID, "the same token is listed twice, as %s and as %s", tokens->items[i].name,
                        token->name);
    }
    if (tokens->count >= TOKENS_MAX)
        return fail(error, PAWL_INVALID, "there are at most %d tokens", TOKENS_MAX);
    struct token *items = realloc(tokens->items, (tokens->count + 1) * sizeof *items);
    if (items == NULL)
        return fail(error, PAWL_NOMEM, "out of memory");
    items[tokens->count++] = *token;
    tokens->items = items;
    return PAWL_OK;
}

static double now_s(void)
{
    struct timespec now = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double burst_of(double per_second)
{
    return per_second > 1 ? per_second : 1;
}

pawl_status pawl_tokens_add(pawl_tokens *tokens, const char *line, struct pawl_error *error)
{
    struct token token = { .scopes = 0 };
    if (tokens == NULL || line == NULL)
        return fail(error, PAWL_INVALID, "tokens and a line are needed");
    size_t blank = strspn(line, white_space);
    if (line[blank] == '\0' || line[blank] == '#')
        return PAWL_OK;
    pawl_status status = parse_line(line, &token, error);
    if (status != PAWL_OK)
        return status;
    (void)pthread_mutex_lock(&tokens->lock);
    token.bucket = burst_of(tokens->per_second);
    token.filled_at_s = now_s();
    status = keep(tokens, &token, error);
    (void)pthread_mutex_unlock(&tokens->lock);
    if (status != PAWL_OK)
        free(token.permissions);
    return status;
}

size_t pawl_tokens_count(const pawl_tokens *tokens)
{
    return tokens != NULL ? tokens->count : 0;
}

void pawl_tokens_limit(pawl_tokens *tokens, double requests_per_second)
{
    if (tokens == NULL)
        return;
    (void)pthread_mutex_lock(&tokens->lock);
    tokens->per_second = requests_per_second > 0 && isfinite(requests_per_second) ? requests_per_second : 0;
    for (size_t i = 0; i < tokens->count; i++) {
        tokens->items[i].bucket = burst_of(tokens->per_second);
        tokens->items[i].filled_at_s = now_s();
    }
    (void)pthread_mutex_unlock(&tokens->lock);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static PAWL_PRINTF(4, 5) bool refuse(struct pawl_http_refusal *refusal, int status, const char *code,
                                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    refusal->status = status;
    refusal->retry_after_s = 0;
    (void)snprintf(refusal->code, sizeof refusal->code, "%s", code);
    (void)vsnprintf(refusal->message, sizeof refusal->message, format, arguments);
    pawl_text_mend(refusal->message);
    va_end(arguments);
    return false;
}

/* Returns the request's token.  Returns NULL if there is none, or if there are several Authorization headers. */
static const char *bearer_of(const struct pawl_http_request *request)
{
    static const char scheme[] = "Bearer ";
    const char *found = NULL;
    for (size_t i = 0; i < request->header_count; i++) {
        const struct pawl_http_header *header = &request->headers[i];
        if (strcasecmp(header->name, "Authorization") != 0)
            continue;
        if (found != NULL || strncasecmp(header->value, scheme, sizeof scheme - 1) != 0)
            return NULL;
        found = header->value + sizeof scheme - 1;
        found += strspn(found, " ");
    }
    return found;
}

/* Compares all tokens, even after a match, so that timing reveals nothing. */
static struct token *find(pawl_tokens *tokens, const unsigned char hash[HASH_SIZE])
{
    struct token *found = NULL;
    for (size_t i = 0; i < tokens->count; i++) {
        if (gnutls_memcmp(tokens->items[i].hash, hash, HASH_SIZE) == 0)
            found = &tokens->items[i];
    }
    return found;
}

/* Takes one request out of the token's bucket.  Returns 0 if it is allowed, else in how many seconds to try again. */
static int32_t take(struct token *token, double per_second)
{
    if (per_second <= 0)
        return 0;
    double now = now_s(), most = burst_of(per_second);
    double filled = token->bucket + (now - token->filled_at_s) * per_second;
    token->bucket = filled < most ? filled : most;
    token->filled_at_s = now;
    if (token->bucket >= 1) {
        token->bucket -= 1;
        return 0;
    }
    double wait_s = (1 - token->bucket) / per_second;
    return wait_s < WAIT_S_MAX ? (int32_t)wait_s + 1 : WAIT_S_MAX;
}

/* Needs the lock.  A request that the token may not make also counts against its limit. */
static bool judge(pawl_tokens *tokens, struct token *token, const struct pawl_http_subject *subject,
                  struct pawl_http_refusal *refusal)
{
    int32_t wait_s = take(token, tokens->per_second);
    if (wait_s > 0) {
        (void)refuse(refusal, 429, "RATE_LIMITED", "this token may make %g requests a second; try again in %d s",
                     tokens->per_second, (int)wait_s);
        refusal->retry_after_s = wait_s;
        return false;
    }
    if ((token->scopes & bit_of(subject->scope)) == 0)
        return refuse(refusal, 403, "FORBIDDEN", "this needs a token with the scope \"%s\"",
                      pawl_http_scope_name(subject->scope));
    for (size_t i = 0; i < subject->permission_count; i++) {
        if (!has_permission(token->permissions, subject->permissions[i]))
            return refuse(refusal, 403, "FORBIDDEN", "this workflow needs a token with the permission \"%.64s\"",
                          subject->permissions[i]);
    }
    return true;
}

bool pawl_tokens_authorize(void *tokens, const struct pawl_http_subject *subject, struct pawl_http_refusal *out_refusal)
{
    pawl_tokens *kept = tokens;
    unsigned char hash[HASH_SIZE];
    if (!is_for_tokens(subject->scope))
        return true;
    const char *text = bearer_of(subject->request);
    if (text == NULL || text[0] == '\0')
        return refuse(out_refusal, 401, "UNAUTHORIZED", "send a token: the header \"Authorization: Bearer <token>\"");
    if (!hash_text(text, strlen(text), hash))
        return refuse(out_refusal, 401, "UNAUTHORIZED", "this token could not be checked");
    (void)pthread_mutex_lock(&kept->lock);
    struct token *token = find(kept, hash);
    bool allowed = token != NULL ? judge(kept, token, subject, out_refusal)
                                 : refuse(out_refusal, 401, "UNAUTHORIZED", "this token is not known here");
    (void)pthread_mutex_unlock(&kept->lock);
    return allowed;
}
