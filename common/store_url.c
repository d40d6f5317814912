/* store_url.c - see store_url.h.  When in doubt it refuses: a secret that was shown once cannot be taken back. */
#include "common/store_url.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define HIDDEN "***"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static const char is_unclear[] =
    "what of it is the password? A port is a number, options follow a ?, and in a password @ is "
    "written %40, / %2F, ? %3F, & %26, = %3D and % %25";
static const char is_several[] =
    "more than one URL is given, but a store is one database; give one URL, and run one Pawl "
    "for each database (docs/postgres.md)";
static const char is_no_store[] = "use \"sqlite:path\", \"sqlite::memory:\" or \"postgres://host/database\"";

/* ---- Writing ------------------------------------------------------------------------------------------------------------ */

size_t pw_store_url_room(size_t size)
{
    return 3 * size + 2 * PW_STORE_SECRETS_MAX + sizeof HIDDEN + 4;
}

static char *put(char *to, const char *from, const char *end)
{
    memcpy(to, from, (size_t)(end - from));
    to += end - from;
    *to = '\0';
    return to;
}

static int digit_of(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = letter != '\0' ? strchr(digits, tolower((unsigned char)letter)) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* With a NUL behind it; the answer is behind that.  NULL: a % is no escape, or one of a NUL. */
static char *decode(char *to, const char *from, const char *end)
{
    for (; from < end; from++) {
        int high = *from == '%' && end - from > 2 ? digit_of(from[1]) : -1, low = high >= 0 ? digit_of(from[2]) : -1;
        if (*from == '%' && (low < 0 || high + low == 0))
            return NULL;
        *to++ = low >= 0 ? (char)(16 * high + low) : *from;
        from += low >= 0 ? 2 : 0;
    }
    *to++ = '\0';
    return to;
}

/* ---- The query ---------------------------------------------------------------------------------------------------------- */

/* Of libpq these are password, sslpassword, oauth_client_secret and scram_..._key. */
static bool is_secret(const char *key)
{
    static const char *const words[] = { "pass", "pwd", "secret", "token", "_key" };
    char lower[64];
    size_t size = 0;
    for (; key[size] != '\0' && size < sizeof lower - 1; size++)
        lower[size] = (char)tolower((unsigned char)key[size]);
    lower[size] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(lower, words[i]) != NULL)
            return strcmp(lower, "passfile") != 0;
    return false;
}

/* Adds the secret.  The answer is what is behind it in the room; NULL: it cannot be decoded, or is one too many. */
static char *keep(struct pw_store_url *url, const char *key, char *room, const char *value, const char *end)
{
    char *behind = url->secret_count < PW_STORE_SECRETS_MAX ? decode(room, value, end) : NULL;
    if (behind == NULL)
        return NULL;
    url->keys[url->secret_count] = key;
    url->values[url->secret_count++] = room;
    return behind;
}

/* From behind the '?'; `to` is where the plain URL goes on.  False: it is not clear what is secret. */
static bool split_query(struct pw_store_url *url, const char *query, char *to, char *room)
{
    const char *next;
    char mark = '?';
    for (const char *word = query; word != NULL; word = next) {
        const char *end = word + strcspn(word, "&");
        const char *equals = memchr(word, '=', (size_t)(end - word)), *key_end = equals != NULL ? equals : end;
        next = *end == '&' ? end + 1 : NULL;
        if (end == word)
            continue;
        char *behind = decode(room, word, key_end);
        if (behind == NULL || room[strspn(room, NAME_LETTERS)] != '\0' || (equals == NULL && url->secret_count > 0))
            return false;
        if (is_secret(room)) {
            room = equals != NULL ? keep(url, room, behind, equals + 1, end) : NULL;
            if (room == NULL)
                return false;
            url->is_unclear = next != NULL;
        } else {
            to = put(to, &mark, &mark + 1);
            to = put(to, word, end);
            mark = '&';
        }
    }
    return true;
}

/* ---- The rest ------------------------------------------------------------------------------------------------------------ */

/* Does something else than ports stand behind the colons of the hosts?  It is the password of one who has forgotten the @,
 * or has a / in the password. */
static bool has_wrong_port(const char *hosts, const char *end)
{
    bool is_address = false; /* "[::1]" has colons of its own */
    for (; hosts < end && *hosts != '?'; hosts++) {
        is_address = *hosts == '[' || (is_address && *hosts != ']');
        if (*hosts != ':' || is_address)
            continue;
        hosts += strspn(hosts + 1, "0123456789");
        if (hosts + 1 < end && strchr(",?", hosts[1]) == NULL)
            return true;
    }
    return false;
}

static const char *last_at(const char *from, const char *end)
{
    while (end > from && end[-1] != '@')
        end--;
    return end > from ? end - 1 : NULL;
}

/* user: behind the "//". */
static bool split_server(struct pw_store_url *url, const char *given, const char *user, char *plain, char *room)
{
    const char *path = user + strcspn(user, "/"), *at = last_at(user, path);
    const char *hosts = at != NULL ? at + 1 : user;
    const char *query = hosts + strcspn(hosts, "?");
    const char *colon = memchr(user, ':', (size_t)((at != NULL ? at : user) - user));
    const char *user_end = colon != NULL ? colon : at != NULL ? at : user;
    bool has_port = memchr(hosts, ':', (size_t)(path - hosts)) != NULL;
    if (has_wrong_port(hosts, path) || memchr(user, '?', (size_t)(user_end - user)) != NULL ||
        (path < query && (memchr(path, '=', (size_t)(query - path)) != NULL ||
                          (at == NULL && has_port && memchr(path, '@', (size_t)(query - path)) != NULL))))
        return false;
    if (colon != NULL && colon + 1 < at && (room = keep(url, "password", room, colon + 1, at)) == NULL)
        return false;
    char *to = put(plain, given, colon != NULL ? colon : user_end);
    to = put(to, at != NULL ? at : user, query);
    url->plain = plain;
    char *shown = room;
    room = put(room, plain, to) + 1;
    if (*query == '?' && !split_query(url, query + 1, to, room))
        return false;
    url->shown = shown;
    return true;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* A path may contain such characters, so they end a URL only if another URL begins behind them. */
static bool names_several(const char *url)
{
    static const char separators[] = " \t\r\n,;";
    for (const char *gap = strpbrk(url, separators); gap != NULL; gap = strpbrk(gap, separators)) {
        gap += strspn(gap, separators);
        size_t scheme = strspn(gap, NAME_LETTERS "+.-");
        if (begins_with(gap, "sqlite:") || (scheme > 0 && begins_with(gap + scheme, "://")))
            return true;
    }
    return false;
}

/* True when a text that is not a store's URL is only a name or a path, and so holds no password. */
static bool is_harmless(const char *url)
{
    static const char letters[] = NAME_LETTERS "./~-";
    const char *rest = url + strspn(url, letters);
    if (begins_with(rest, "://"))
        rest += strlen("://") + strspn(rest + strlen("://"), letters);
    return *rest == '\0';
}

struct pw_store_url pw_store_url_split(const char *url, char *room)
{
    struct pw_store_url parts = { .shown = HIDDEN };
    size_t scheme = begins_with(url, "postgres://")     ? strlen("postgres://")
                    : begins_with(url, "postgresql://") ? strlen("postgresql://")
                                                        : 0;
    if (names_several(url))
        parts.flaw = is_several;
    else if (begins_with(url, "sqlite:"))
        parts.shown = url;
    else if (scheme == 0)
        parts = (struct pw_store_url){ .flaw = is_no_store, .shown = is_harmless(url) ? url : HIDDEN };
    else if (!split_server(&parts, url, url + scheme, room, room + strlen(url) + 1))
        parts = (struct pw_store_url){ .flaw = is_unclear, .shown = HIDDEN };
    return parts;
}
