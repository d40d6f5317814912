/* test_server_listen.c - where a server listens, TLS, and what it says when it cannot start. */
#include "serving.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET "test_server.sock"

static int tear_down(void **state)
{
    (void)unlink(SOCKET);
    return serving_tear_down(state);
}

static const struct test_setting listening = { serving_set_up, tear_down, 0 };

/* Starts a second server, which must not work; the error says this. */
static void check_refused(const struct serving *serving, const struct pawl_http_server_options *options,
                          pawl_status status, const char *says)
{
    struct pawl_error error = { PAWL_OK, "" };
    pawl_http_server *server = NULL;
    int descriptors = count_descriptors(), threads = count_threads();
    if (pawl_http_server_start(serving->http, options, &server, &error) != status || error.status != status ||
        strstr(error.text, says) == NULL)
        fail_msg("%s: %s: %s", options->listen != NULL ? options->listen : "-", pawl_status_name(error.status),
                 error.text);
    assert_null(server);
    /* Where a server lives, it was asked whether it does, and takes a moment to notice that it was all; so it may have
     * been with the one before. */
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    int left = count_descriptors();
    for (; left > descriptors && monotonic_ms() < until_ms; left = count_descriptors())
        rest_a_little();
    assert_true(left <= descriptors);
    assert_true(await_threads(threads));
}

static pawl_http_server *start_at(const struct serving *serving, const char *address)
{
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct pawl_error error = { PAWL_OK, "" };
    pawl_http_server *server = NULL;
    options.listen = address;
    assert_ok(pawl_http_server_start(serving->http, &options, &server, &error), error);
    return server;
}

static void check_bad_address(const struct serving *serving, const char *address, pawl_status status, const char *says)
{
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    options.listen = address;
    check_refused(serving, &options, status, says);
}

/* ---- Addresses ------------------------------------------------------------------------------------------------------- */

TEST_IN(listening, serving, what_is_no_address_is_refused_with_what_would_be_one)
{
    static const char *const addresses[] = {
        "",         "7295",      "127.0.0.1", "127.0.0.1:",   "127.0.0.1:http",  "127.0.0.1:65536",
        "::1:7295", "[::1]7295", "[]:7295",   "127.0.0.1:-1", "127.0.0.1:7295 ", "127.0.0.1:000000",
    };
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    for (size_t i = 0; i < LENGTH(addresses); i++)
        check_bad_address(serving, addresses[i], PAWL_INVALID, "host:port, [IPv6]:port, :port or unix:path");
    check_bad_address(serving, "unix:", PAWL_INVALID, "path of a Unix socket");
    check_bad_address(serving, "no.such.host.invalid:7295", PAWL_INVALID, "no.such.host.invalid:7295");
    check_bad_address(serving, "203.0.113.7:7295", PAWL_FAILED, "no such address");
    check_refused(serving, &options, PAWL_INVALID, "say where to listen");
}

TEST_IN(listening, serving, options_out_of_range_are_refused_by_name)
{
    static const struct {
        int32_t threads, connections_max;
        int64_t request_ms_max, idle_ms_max, header_bytes_max;
        const char *says;
    } cases[] = {
        { -1, 0, 0, 0, 0, "threads" },         { 65, 0, 0, 0, 0, "threads" },
        { 0, -1, 0, 0, 0, "connections_max" }, { 0, 0, -1, 0, 0, "request_ms_max" },
        { 0, 0, 0, -1, 0, "idle_ms_max" },     { 0, 0, 0, 0, 100, "header_bytes_max" },
    };
    struct pawl_error error = { PAWL_OK, "" };
    pawl_http_server *server = NULL;
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    options.listen = "127.0.0.1:0";
    for (size_t i = 0; i < LENGTH(cases); i++) {
        options.threads = cases[i].threads;
        options.connections_max = cases[i].connections_max;
        options.request_ms_max = cases[i].request_ms_max;
        options.idle_ms_max = cases[i].idle_ms_max;
        options.header_bytes_max = cases[i].header_bytes_max;
        check_refused(serving, &options, PAWL_INVALID, cases[i].says);
    }
    options = (struct pawl_http_server_options)PAWL_HTTP_SERVER_OPTIONS_INIT;
    options.struct_size = sizeof options + 8;
    check_refused(serving, &options, PAWL_INVALID, "struct_size");
    assert_int_equal(pawl_http_server_start(serving->http, NULL, &server, &error), PAWL_INVALID);
    assert_int_equal(pawl_http_server_start(NULL, &options, &server, NULL), PAWL_INVALID);
    pawl_http_server_stop(NULL, 0);
    assert_int_equal(pawl_http_server_port(NULL), 0);
}

TEST_IN(listening, serving, a_port_that_is_taken_is_said_to_be)
{
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%d", serving->port);
    check_bad_address(serving, address, PAWL_BUSY, "in use");
    assert_int_equal(ask_once(serving, "/api/health", NULL), 200);
}

TEST_IN(listening, serving, a_port_can_be_taken_again_right_after_a_stop)
{
    struct client client;
    struct answer answer = { 0 };
    char address[64];
    snprintf(address, sizeof address, "127.0.0.1:%d", serving->port);
    for (int round = 0; round < 3; round++) {
        client_open(&client, serving);
        client_ask(&client, "/api/health", NULL);
        client_take(&client, &answer);
        serving_stop(serving, 1000);
        serving->server = start_at(serving, address);
        client_close(&client);
        assert_int_equal(ask_once(serving, "/api/health", NULL), 200);
    }
    answer_clear(&answer);
}

TEST_IN(listening, serving, all_addresses_and_names_and_ipv6_are_listened_at)
{
    static const char *const addresses[] = { ":0", "0.0.0.0:0", "localhost:0" };
    struct serving second = { .server = NULL };
    for (size_t i = 0; i < LENGTH(addresses); i++) {
        second.server = start_at(serving, addresses[i]);
        second.port = pawl_http_server_port(second.server);
        assert_true(second.port > 0);
        if (i < 2) /* a name may be the one of either family */
            assert_int_equal(ask_once(&second, "/api/health", NULL), 200);
        serving_stop(&second, 1000);
    }
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    bool has_ipv6 = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        close(fd);
    if (has_ipv6) {
        struct client client = { .fd = socket(AF_INET6, SOCK_STREAM, 0) };
        struct answer answer = { 0 };
        second.server = start_at(serving, "[::1]:0");
        address.sin6_port = htons((uint16_t)pawl_http_server_port(second.server));
        assert_int_equal(connect(client.fd, (struct sockaddr *)&address, sizeof address), 0);
        client_ask(&client, "/api/health", NULL);
        client_take(&client, &answer);
        assert_int_equal(answer.status, 200);
        answer_clear(&answer);
        client_close(&client);
        serving_stop(&second, 1000);
    } else {
        check_bad_address(serving, "[::1]:0", PAWL_FAILED, "[::1]:0");
    }
}

/* ---- Unix sockets ---------------------------------------------------------------------------------------------------- */

static void check_over_socket(void)
{
    struct client client;
    struct answer answer = { 0 };
    client_open_path(&client, SOCKET);
    client_ask(&client, "/api/workflows/quick/instances", "{}");
    client_take(&client, &answer);
    assert_int_equal(answer.status, 200);
    answer_clear(&answer);
    client_close(&client);
}

TEST_IN(listening, serving, a_unix_socket_is_for_its_group_and_goes_with_the_server)
{
    struct stat about;
    mode_t mask = umask(0);
    pawl_http_server *server = start_at(serving, "unix:" SOCKET);
    (void)umask(mask);
    assert_int_equal(pawl_http_server_port(server), 0);
    assert_int_equal(stat(SOCKET, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
    check_over_socket();
    check_bad_address(serving, "unix:" SOCKET, PAWL_BUSY, "in use"); /* and the first one is not hurt */
    check_over_socket();
    pawl_http_server_stop(server, 1000);
    assert_int_not_equal(stat(SOCKET, &about), 0);
}

TEST_IN(listening, serving, the_socket_of_a_dead_server_is_replaced)
{
    struct sockaddr_storage storage = { .ss_family = AF_UNIX };
    struct sockaddr *address = (struct sockaddr *)&storage;
    memcpy(address->sa_data, SOCKET, sizeof SOCKET);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, address, 110), 0);
    assert_int_equal(listen(fd, 1), 0);
    close(fd); /* the file stays */
    pawl_http_server *server = start_at(serving, "unix:" SOCKET);
    check_over_socket();
    pawl_http_server_stop(server, 1000);
}

TEST_IN(listening, serving, a_file_that_is_no_socket_is_left_alone)
{
    struct stat about;
    FILE *file = fopen(SOCKET, "w");
    assert_non_null(file);
    fclose(file);
    check_bad_address(serving, "unix:" SOCKET, PAWL_BUSY, "in use");
    assert_int_equal(stat(SOCKET, &about), 0);
    assert_true(S_ISREG(about.st_mode));
    check_bad_address(serving, "unix:no/such/folder/pawl.sock", PAWL_FAILED, "No such file or directory");
}

TEST_IN(listening, serving, a_socket_that_somebody_put_in_our_place_is_not_removed)
{
    struct stat about;
    pawl_http_server *first = start_at(serving, "unix:" SOCKET);
    assert_int_equal(unlink(SOCKET), 0);
    pawl_http_server *second = start_at(serving, "unix:" SOCKET);
    pawl_http_server_stop(first, 1000);
    assert_int_equal(stat(SOCKET, &about), 0);
    check_over_socket();
    pawl_http_server_stop(second, 1000);
}

/* ---- TLS ------------------------------------------------------------------------------------------------------------- */

#define ANY "DEFAULT:@SECLEVEL=0"
#define WITH_CURVE "ec -pkeyopt ec_paramgen_curve:prime256v1"

static void make_certificate(const char *name, const char *kind)
{
    char command[512];
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey %s -nodes -days 2 -subj /CN=localhost "
             "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout %s.key -out %s.crt 2>/dev/null",
             kind, name, name);
    assert_int_equal(system(command), 0);
}

static size_t drop_bytes(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes;
    *(size_t *)user += size * count;
    return size * count;
}

/* The status, and 0 when there is none. */
static long get_by_tls(int port, long version, const char *ciphers)
{
    char url[80];
    long status = 0;
    size_t bytes = 0;
    CURL *curl = curl_easy_init();
    assert_non_null(curl);
    snprintf(url, sizeof url, "https://localhost:%d/api/workflows", port);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CAINFO, "all.crt");
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, version);
    curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, ciphers);
    curl_easy_setopt(curl, CURLOPT_IPRESOLVE, CURL_IPRESOLVE_V4);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &bytes);
    CURLcode code = curl_easy_perform(curl);
    if (code == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    return status;
}

TEST_IN(listening, serving, tls_is_spoken_in_its_two_newest_versions)
{
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct client client;
    serving_close(serving);
    options.tls_cert = "one.crt";
    options.tls_key = "one.key";
    serving_open(serving, NULL, &options);
    assert_int_equal(get_by_tls(serving->port, CURL_SSLVERSION_TLSv1_3 | CURL_SSLVERSION_MAX_TLSv1_3, ANY), 200);
    assert_int_equal(get_by_tls(serving->port, CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2, ANY), 200);
    assert_int_equal(get_by_tls(serving->port, CURL_SSLVERSION_TLSv1_0 | CURL_SSLVERSION_MAX_TLSv1_1, ANY), 0);
    client_open(&client, serving); /* who does not speak it is let go */
    client_ask(&client, "/api/workflows", NULL);
    assert_true(client_is_cut(&client, PATIENCE_MS));
    client_close(&client);
}

TEST_IN(listening, serving, tls_1_2_is_spoken_with_aead_ciphers_and_fresh_keys_alone)
{
    static const struct {
        const char *certificate, *key, *ciphers;
        long status;
    } cases[] = {
        { "one.crt", "one.key", "ECDHE-ECDSA-AES128-GCM-SHA256", 200 },
        { "one.crt", "one.key", "ECDHE-ECDSA-AES256-GCM-SHA384", 200 },
        { "one.crt", "one.key", "ECDHE-ECDSA-CHACHA20-POLY1305", 200 },
        { "one.crt", "one.key", "ECDHE-ECDSA-AES128-SHA256:@SECLEVEL=0", 0 },
        { "one.crt", "one.key", "ECDHE-ECDSA-AES256-SHA:@SECLEVEL=0", 0 },
        { "rsa.crt", "rsa.key", "ECDHE-RSA-AES128-GCM-SHA256", 200 },
        { "rsa.crt", "rsa.key", "AES128-GCM-SHA256:@SECLEVEL=0", 0 }, /* whoever gets the key later can read it all */
        { "rsa.crt", "rsa.key", "AES256-SHA:@SECLEVEL=0", 0 },
        { "rsa.crt", "rsa.key", "ECDHE-RSA-AES256-SHA384:@SECLEVEL=0", 0 },
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
        serving_close(serving);
        options.tls_cert = cases[i].certificate;
        options.tls_key = cases[i].key;
        serving_open(serving, NULL, &options);
        long status =
            get_by_tls(serving->port, CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2, cases[i].ciphers);
        if (status != cases[i].status)
            fail_msg("%s: %ld", cases[i].ciphers, status);
    }
}

TEST_IN(listening, serving, a_key_that_everybody_can_read_is_refused_unless_that_is_allowed)
{
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    options.listen = "127.0.0.1:0";
    options.tls_cert = "one.crt";
    options.tls_key = "one.key";
    assert_int_equal(chmod("one.key", 0644), 0);
    check_refused(serving, &options, PAWL_INVALID, "everybody on this machine can read the key one.key (mode 0644)");
    assert_int_equal(chmod("one.key", 0604), 0);
    check_refused(serving, &options, PAWL_INVALID, "(mode 0604)");
    serving_close(serving);
    options.tls_allow_readable_key = true;
    serving_open(serving, NULL, &options);
    assert_int_equal(get_by_tls(serving->port, CURL_SSLVERSION_DEFAULT, ANY), 200);
    serving_close(serving);
    options.tls_allow_readable_key = false;
    assert_int_equal(chmod("one.key", 0640), 0); /* a group may be made for it */
    serving_open(serving, NULL, &options);
    assert_int_equal(chmod("one.key", 0600), 0);
}

TEST_IN(listening, serving, who_does_not_finish_the_handshake_is_cut_off)
{
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct client client;
    serving_close(serving);
    options.tls_cert = "one.crt";
    options.tls_key = "one.key";
    options.request_ms_max = 300;
    serving_open(serving, NULL, &options);
    client_open(&client, serving);
    client_send_bytes(&client, "\x16\x03\x01\x02\x00\x01", 6);
    assert_true(client_is_cut(&client, PATIENCE_MS));
    client_close(&client);
}

TEST_IN(listening, serving, what_is_wrong_with_a_certificate_is_said)
{
    static const struct {
        const char *cert, *key, *says;
    } cases[] = {
        { "one.crt", NULL, "go together" },
        { NULL, "one.key", "go together" },
        { "none.crt", "one.key", "cannot read the certificate none.crt: No such file or directory" },
        { "one.crt", "none.key", "cannot read the key none.key: No such file or directory" },
        { "empty.pem", "one.key", "the certificate empty.pem is not PEM" },
        { "one.crt", "two.key", "the key two.key is not that of the certificate one.crt" },
        { "one.crt", "one.crt", "cannot be used" },
    };
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    FILE *file = fopen("empty.pem", "w");
    assert_non_null(file);
    fclose(file);
    options.listen = "127.0.0.1:0";
    options.tls_allow_readable_key = true; /* a certificate may be read by everybody, also where a key should be */
    for (size_t i = 0; i < LENGTH(cases); i++) {
        options.tls_cert = cases[i].cert;
        options.tls_key = cases[i].key;
        check_refused(serving, &options, PAWL_INVALID, cases[i].says);
    }
    (void)unlink("empty.pem");
}

int main(void)
{
    char folder[] = "server-XXXXXX";
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 1;
    make_certificate("one", WITH_CURVE);
    make_certificate("two", WITH_CURVE);
    make_certificate("rsa", "rsa:2048");
    if (system("cat one.crt rsa.crt >all.crt") != 0)
        return 1;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int failures = test_run_all();
    curl_global_cleanup();
    static const char *const files[] = { "one.key", "one.crt", "two.key", "two.crt", "rsa.key", "rsa.crt", "all.crt" };
    for (size_t i = 0; i < LENGTH(files); i++)
        (void)unlink(files[i]);
    if (chdir("..") != 0 || rmdir(folder) != 0)
        return 1;
    return failures;
}
