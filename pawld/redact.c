/* redact.c - see redact.h.  When in doubt it hides: a line of a log that says too little can be asked about, one that says
 * too much cannot be taken back. */
#include "redact.h"

#include <ctype.h>
#include <string.h>

#define HIDDEN "***"
#define BLANKS " \t\r\n"

enum { KEY_SIZE = 256 };

struct redaction {
    pawl_scope *scope;
    const char *shown; /* NULL: out of memory */
    bool hides;        /* something was left out */
    bool is_odd;       /* a password has characters that end it for libpq, which takes the rest for something else */
};

static void show(struct redaction *redaction, const char *from, const char *end)
{
    if (redaction->shown != NULL)
        redaction->shown = pawl_scope_format(redaction->scope, "%s%.*s", redaction->shown, (int)(end - from), from);
}

static void hide(struct redaction *redaction)
{
    if (redaction->shown != NULL)
        redaction->shown = pawl_scope_format(redaction->scope, "%s" HIDDEN, redaction->shown);
    redaction->hides = true;
}

/* ---- Keys of the query ------------------------------------------------------------------------------------------- */

static int digit_of(char character)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = character != '\0' ? strchr(digits, tolower((unsigned char)character)) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

static bool is_escape(const char *text)
{
    return text[0] == '%' && digit_of(text[1]) >= 0 && digit_of(text[2]) >= 0;
}

/* False: it is no key that anybody has. */
static bool decode_key(const char *from, const char *end, char out_key[KEY_SIZE])
{
    size_t size = 0;
    while (from < end) {
        bool is_encoded = end - from > 2 && is_escape(from);
        int character = is_encoded ? 16 * digit_of(from[1]) + digit_of(from[2]) : (unsigned char)*from;
        if (size == KEY_SIZE - 1 || character < ' ' || character == '%')
            return false;
        out_key[size++] = (char)tolower(character);
        from += is_encoded ? 3 : 1;
    }
    out_key[size] = '\0';
    return true;
}

/* Not only libpq's own, which are password, sslpassword, oauth_client_secret and scram_..._key: whoever mistypes one has
 * typed its value as well. */
static bool is_secret(const char *from, const char *end)
{
    static const char *const words[] = { "pass", "pwd", "secret", "token", "_key" };
    char key[KEY_SIZE];
    if (!decode_key(from, end, key))
        return true;
    if (strcmp(key, "passfile") == 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(key, words[i]) != NULL)
            return true;
    }
    return false;
}

/* From what is behind the user and the password.  is_query: its first word is "key=value" already. */
static void redact_query(struct redaction *redaction, const char *from, const char *end, bool is_query)
{
    static const char separators[] = "?&;#" BLANKS;
    for (const char *word = from; word < end; is_query = true) {
        const char *after = word + strcspn(word, separators);
        after = after < end ? after : end;
        const char *equals = memchr(word, '=', (size_t)(after - word));
        if (is_query && after > word && is_secret(word, equals != NULL ? equals : after)) {
            show(redaction, from, equals != NULL ? equals + 1 : word);
            hide(redaction);
            return; /* a '&' behind it may be the secret's own */
        }
        word = after < end ? after + 1 : end;
    }
    show(redaction, from, end);
}

/* ---- URLs -------------------------------------------------------------------------------------------------------- */

static bool is_plain(const char *from, const char *end)
{
    for (; from < end; from++) {
        if (strchr("@/?" BLANKS, *from) != NULL || (*from == '%' && !is_escape(from)))
            return false;
    }
    return true;
}

static bool is_sqlite(const char *url)
{
    return strncmp(url, "sqlite:", strlen("sqlite:")) == 0;
}

static bool begins_a_url(const char *text)
{
    const char *end = text;
    while (isalnum((unsigned char)*end) || (*end != '\0' && strchr("+.-", *end) != NULL))
        end++;
    return is_sqlite(text) || (end > text && strncmp(end, "://", strlen("://")) == 0);
}

/* As the library parts them: at white space that is followed by what begins as a URL. */
static const char *end_of_url(const char *url)
{
    const char *gap = strpbrk(url, BLANKS);
    while (gap != NULL && !begins_a_url(gap + strspn(gap, BLANKS)))
        gap = strpbrk(gap + strspn(gap, BLANKS), BLANKS);
    return gap != NULL ? gap : url + strlen(url);
}

static const char *last_at(const char *from, const char *end)
{
    while (end > from && end[-1] != '@')
        end--;
    return end > from ? end - 1 : NULL;
}

/* Where a port should be and is none, of a URL without '@': the password of one who has forgotten or encoded that. */
static const char *wrong_port(const char *host, const char *end)
{
    const char *rest = host + strcspn(host, "/?");
    const char *colon = memchr(host, ':', (size_t)((rest < end ? rest : end) - host));
    if (colon == NULL || memchr(host, '[', (size_t)(colon - host)) != NULL)
        return NULL;
    const char *after = colon + 1 + strspn(colon + 1, "0123456789");
    return after >= end || strchr("/?,", *after) != NULL ? NULL : colon;
}

static void redact_url(struct redaction *redaction, const char *url, const char *end)
{
    const char *scheme = strstr(url, "://");
    bool has_scheme = scheme != NULL && scheme < end;
    const char *user = has_scheme ? scheme + strlen("://") : url;
    const char *at = last_at(user, end);
    const char *colon = at != NULL ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon != NULL) {
        show(redaction, url, colon + 1);
        hide(redaction);
        redaction->is_odd = redaction->is_odd || !is_plain(colon + 1, at);
        url = at;
    }
    const char *port = has_scheme && at == NULL ? wrong_port(user, end) : NULL;
    if (port != NULL) {
        show(redaction, url, port + 1);
        hide(redaction);
        redaction->is_odd = true;
        return;
    }
    redact_query(redaction, url, end, !has_scheme && colon == NULL);
}

static struct redaction redact(pawl_scope *scope, const char *store)
{
    struct redaction redaction = { .scope = scope, .shown = "" };
    for (const char *url = store; *url != '\0';) {
        const char *end = end_of_url(url), *next = end + strspn(end, BLANKS);
        if (is_sqlite(url))
            show(&redaction, url, end);
        else
            redact_url(&redaction, url, end);
        show(&redaction, end, next);
        url = next;
    }
    return redaction;
}

const char *redact_store(pawl_scope *scope, const char *store)
{
    struct redaction redaction = redact(scope, store);
    if (!redaction.hides)
        return store;
    return redaction.shown != NULL ? redaction.shown : "";
}

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

/* Whether all that stands in quotes is shown anyway. */
static bool quotes_only(const struct redaction *redaction, const char *text)
{
    const char *open = strchr(text, '"'), *close;
    for (; open != NULL; open = strchr(close + 1, '"')) {
        close = strchr(open + 1, '"');
        const char *quoted =
            close != NULL ? pawl_scope_format(redaction->scope, "%.*s", (int)(close - open - 1), open + 1) : NULL;
        if (quoted == NULL || strstr(redaction->shown, quoted) == NULL)
            return false;
    }
    return true;
}

const char *redact_reason(pawl_scope *scope, const char *store, const struct pawl_error *why)
{
    const char *plain = pawl_status_text(why->status);
    struct redaction redaction = redact(scope, store);
    if (why->text[0] == '\0' || redaction.shown == NULL)
        return plain;
    if (!redaction.hides)
        return why->text;
    if (redaction.is_odd) {
        const char *advice = pawl_scope_format(
            scope, "%s; write these characters of a password as %%40 (@), %%2F (/), %%3F (?), %%25 (%%), %%20 (space)",
            plain);
        return advice != NULL ? advice : plain;
    }
    /* What nobody could use is repeated in quotes: the whole URL, or the part that is wrong. */
    bool tells =
        strstr(why->text, "://") == NULL && (why->status != PAWL_INVALID || quotes_only(&redaction, why->text));
    return tells ? why->text : plain;
}
