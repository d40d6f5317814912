/* test_store_url.c - secrets are split off a store's URL, however they are written, and nothing of them is left. */
#include "common/store_url.h"
#include "kit/test.h"

#define LENGTH(list) (sizeof(list) / sizeof(list)[0])
#define HIDDEN "***"

struct row {
    const char *url, *shown;
    const char *plain;   /* NULL: the same as the URL */
    const char *secrets; /* "key=value", with a blank behind each */
};

static const struct row rows[] = {
    /* Nothing to hide. */
    { "postgres://", "postgres://", NULL, "" },
    { "postgres://h/db", "postgres://h/db", NULL, "" },
    { "postgres://h:5432/db", "postgres://h:5432/db", NULL, "" },
    { "postgres://h:/db", "postgres://h:/db", NULL, "" },
    { "postgres://u@h:5432/db", "postgres://u@h:5432/db", NULL, "" },
    { "postgres://u@[::1]:5432/db", "postgres://u@[::1]:5432/db", NULL, "" },
    { "postgres://h:1,[::1]:2?a=b:c", "postgres://h:1,[::1]:2", NULL, "" },
    { "postgresql://h1:1,h2:2/db?target_session_attrs=read-write", "postgresql://h1:1,h2:2/db", NULL, "" },
    { "postgres://h/db?user=u&passfile=/etc/pawl/pass&sslkey=/etc/k&pawl_pool=9", "postgres://h/db", NULL, "" },
    { "postgres://h/db?require_auth=password", "postgres://h/db", NULL, "" },
    { "postgres://passhost/password", "postgres://passhost/password", NULL, "" },
    { "postgres://h/d%40b?user=a@b", "postgres://h/d%40b", NULL, "" },
    { "postgres://h:1/db?user=a@b:c", "postgres://h:1/db", NULL, "" },
    /* Behind the user. */
    { "postgres://u:secret@h/db", "postgres://u@h/db", "postgres://u@h/db", "password=secret " },
    { "postgres://:secret@h/db", "postgres://@h/db", "postgres://@h/db", "password=secret " },
    { "postgres://u:@h/db", "postgres://u@h/db", "postgres://u@h/db", "" },
    { "postgresql://u:secret@h1:1,h2:2/db?sslmode=require", "postgresql://u@h1:1,h2:2/db",
      "postgresql://u@h1:1,h2:2/db?sslmode=require", "password=secret " },
    { "postgres://u:secret@[::1]:5432/db", "postgres://u@[::1]:5432/db", "postgres://u@[::1]:5432/db",
      "password=secret " },
    { "postgres://u:sec%40r%20t@h/db", "postgres://u@h/db", "postgres://u@h/db", "password=sec@r t " },
    { "postgres://u:sec:ret@h/db", "postgres://u@h/db", "postgres://u@h/db", "password=sec:ret " },
    { "postgres://u:sec@ret:secret@h/db", "postgres://u@h/db", "postgres://u@h/db", "password=sec@ret:secret " },
    { "postgres://u:sec?ret@h/db", "postgres://u@h/db", "postgres://u@h/db", "password=sec?ret " },
    { "postgres://u:sec#ret@h", "postgres://u@h", "postgres://u@h", "password=sec#ret " },
    { "postgres://u:sec@[ret@h?a=b", "postgres://u@h", "postgres://u@h?a=b", "password=sec@[ret " },
    /* In the query. */
    { "postgres://h/db?password=secret", "postgres://h/db", "postgres://h/db", "password=secret " },
    { "postgres://h/db?password=", "postgres://h/db", "postgres://h/db", "password= " },
    { "postgres://h?password=secret", "postgres://h", "postgres://h", "password=secret " },
    { "postgres:///db?user=u&password=secret", "postgres:///db", "postgres:///db?user=u", "password=secret " },
    { "postgres://h:5432/db?sslpassword=secret&user=u", "postgres://h:5432/db", "postgres://h:5432/db?user=u",
      "sslpassword=secret " },
    { "postgres://h/db?a=b&password=sec=ret?secret#secret&c=d", "postgres://h/db", "postgres://h/db?a=b&c=d",
      "password=sec=ret?secret#secret " },
    { "postgres://h/db?%70%61ssword=se%63ret", "postgres://h/db", "postgres://h/db", "password=secret " },
    { "postgres://h/db?Password=secret", "postgres://h/db", "postgres://h/db", "Password=secret " },
    { "postgres://h/db?passwd=secret", "postgres://h/db", "postgres://h/db", "passwd=secret " },
    { "postgres://h/db?oauth_client_secret=x&scram_client_key=y", "postgres://h/db", "postgres://h/db",
      "oauth_client_secret=x scram_client_key=y " },
    { "postgres://u:one@h/db?password=two", "postgres://u@h/db", "postgres://u@h/db", "password=one password=two " },
};

static struct pw_store_url split(const char *url, char **out_room)
{
    *out_room = malloc(pw_store_url_room(strlen(url)));
    assert_non_null(*out_room);
    return pw_store_url_split(url, *out_room);
}

TEST(secrets_are_split_off_and_the_rest_stays_as_it_was)
{
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char *room, secrets[256] = "";
        struct pw_store_url parts = split(rows[i].url, &room);
        if (parts.flaw != NULL)
            fail_msg("%s: %s", rows[i].url, parts.flaw);
        assert_string_equal(parts.shown, rows[i].shown);
        assert_string_equal(parts.plain, rows[i].plain != NULL ? rows[i].plain : rows[i].url);
        for (size_t j = 0; j < parts.secret_count; j++) {
            strcat(secrets, parts.keys[j]);
            strcat(strcat(strcat(secrets, "="), parts.values[j]), " ");
        }
        assert_string_equal(secrets, rows[i].secrets);
        free(room);
    }
}

TEST(options_behind_a_secret_might_be_its_rest)
{
    static const char *const urls[] = { "postgres://u:secret@h/db?a=b", "postgres://h/db?a=b&password=c",
                                        "postgres://h/db?password=sec&ret=x" };
    for (size_t i = 0; i < LENGTH(urls); i++) {
        char *room;
        assert_int_equal(split(urls[i], &room).is_unclear, i == 2);
        free(room);
    }
}

TEST(what_leaves_open_what_is_secret_is_refused_and_not_shown)
{
    static const char *const urls[] = {
        "postgres://u:sec/ret@h/db",
        "postgres://u:/secret/@h/db",
        "postgres://u:1/secret@h/db",
        "postgres://u:secret",
        "postgres://u:1secret%40h/db?a=b",
        "postgres://u:sec%zzret@h/db",
        "postgres://u:sec%00ret@h/db",
        "postgres://u:sec%4",
        "postgres://h?password=sec@ret",
        "postgres://h/db&password=secret",
        "postgres://h/db?password%3Dsecret",
        "postgres://h/db?%2570assword=secret",
        "postgres://h/db?%zz=secret",
        "postgres://h/db?%7=secret",
        "postgres://h/db?password",
        "postgres://h/db?password=a&secret",
        "postgres://h/db?password=a%zzsecret",
        "postgres://h/db?password = secret",
        "postgres://h/d?passa=1&passb=1&passc=1&passd=1&passe=1&passf=1&passg=1&passh=1&passi=secret",
        /* More than one. */
        "postgres://a:secret@h/1 postgres://b:sec@ret@h/2",
        "postgres://a@h/1 \n POSTGRES://h/2?password=secret",
        "sqlite:a.db postgres://u:secret@h/2 sqlite:b.db",
        /* No store of ours. */
        "POSTGRES://u:secret@h/db",
        "jdbc:postgresql://u:secret@h/db",
        "postgres:u:secret@h/db",
        "u:secret@h/db",
        "host=h user=u password=secret",
        "host=h password = 'sec ret' user=u",
        " postgres://u:secret@h/1",
    };
    for (size_t i = 0; i < LENGTH(urls); i++) {
        char *room;
        struct pw_store_url parts = split(urls[i], &room);
        if (parts.flaw == NULL || strcmp(parts.shown, HIDDEN) != 0 || parts.plain != NULL || parts.secret_count > 0)
            fail_msg("%s is shown as %s", urls[i], parts.shown);
        assert_null(strstr(parts.flaw, "sec"));
        free(room);
    }
}

TEST(what_has_no_secret_is_shown_even_if_it_is_wrong)
{
    static const char *const urls[] = { "sqlite:pawl.db",   "sqlite:my passwords/a@b:c.db?busy_ms=5",
                                        "sqlite::memory:",  "pawl.db",
                                        "./folder/pawl.db", "cassandra://x" };
    for (size_t i = 0; i < LENGTH(urls); i++) {
        char *room;
        struct pw_store_url parts = split(urls[i], &room);
        assert_string_equal(parts.shown, urls[i]);
        assert_int_equal(parts.flaw == NULL, strncmp(urls[i], "sqlite:", 7) == 0);
        free(room);
    }
}
