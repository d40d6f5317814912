/* fuzz_token_line.c - lines of a token file, and what a request brings as its token.  The first line is the one that is
 * kept, the rest an Authorization header.
 *
 * A line is taken, passed over or refused; no error repeats what may be a token that stands there by mistake.  Nothing that
 * is not the token is let in. */
#include <strings.h>

#include "fuzz.h"
#include "pawl/http.h"

enum { SECRET_SHOWN_MAX = 11 }; /* of what may be a secret: no more than this of it is one by chance */

static const char the_token[] = "pawl_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char its_line[] = "known read sha256:47f2892f89cb94f9dc1342b31d57f577b84548c6248e5b0f4d11f734842d4643";

/* No word but the first, which is the name. */
static void check_discretion(const char *line, const char *said)
{
    static const char blanks[] = " \t\r\n";
    const char *at = line + strspn(line, blanks);
    for (at += strcspn(at, blanks); *at != '\0'; at += strcspn(at, blanks)) {
        char word[SECRET_SHOWN_MAX + 2] = "";
        at += strspn(at, blanks);
        size_t size = strcspn(at, blanks);
        if (size <= SECRET_SHOWN_MAX)
            continue;
        memcpy(word, at, SECRET_SHOWN_MAX + 1);
        assert(strstr(said, word) == NULL);
    }
}

static void check_keeping(pawl_tokens *tokens, const char *line)
{
    struct pawl_error error = { PAWL_OK, "" };
    size_t before = pawl_tokens_count(tokens);
    pawl_status status = pawl_tokens_add(tokens, line, &error);
    size_t kept = pawl_tokens_count(tokens) - before;
    assert(status == PAWL_OK ? kept <= 1 : status == PAWL_INVALID && kept == 0 && error.text[0] != '\0');
    check_discretion(line, error.text);
    if (kept == 1) { /* it is there now */
        status = pawl_tokens_add(tokens, line, &error);
        assert(status == PAWL_INVALID && pawl_tokens_count(tokens) == before + 1);
    }
}

static bool is_let_in(pawl_tokens *tokens, const char *authorization)
{
    const struct pawl_http_header header = { "authorization", authorization };
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_refusal refusal = { 403, "FORBIDDEN", "not allowed", 0 };
    request.method = "GET";
    request.target = "/api/workflows";
    request.headers = &header;
    request.header_count = 1;
    const struct pawl_http_subject subject = { .request = &request, .scope = PAWL_HTTP_READ };
    bool is_allowed = pawl_tokens_authorize(tokens, &subject, &refusal);
    assert(is_allowed || refusal.status == 401 || refusal.status == 403);
    assert(memchr(refusal.code, '\0', sizeof refusal.code) != NULL);
    assert(memchr(refusal.message, '\0', sizeof refusal.message) != NULL);
    return is_allowed;
}

static bool is_the_token(const char *authorization)
{
    if (strncasecmp(authorization, "Bearer ", 7) != 0)
        return false;
    return strcmp(authorization + 7 + strspn(authorization + 7, " "), the_token) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    char *line = fuzz_string(fuzz_line(&input)), *authorization = fuzz_string(fuzz_rest(&input));
    pawl_tokens *tokens = pawl_tokens_new();
    assert(tokens != NULL);
    pawl_status status = pawl_tokens_add(tokens, its_line, NULL);
    assert(status == PAWL_OK);
    check_keeping(tokens, line);
    assert(is_let_in(tokens, authorization) == is_the_token(authorization));
    pawl_tokens_free(tokens);
    free(authorization);
    free(line);
    return 0;
}
