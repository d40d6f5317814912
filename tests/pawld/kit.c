/* kit.c - see kit.h. */
#define _GNU_SOURCE /* nftw(), pipe2() */
#include "kit.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sys/stat.h>

#include "kit/child.h"

/* ---- Folders ----------------------------------------------------------------------------------------------------- */

int kit_set_up(void **state)
{
    struct kit *kit = calloc(1, sizeof *kit);
    if (kit == NULL || getcwd(kit->before, sizeof kit->before) == NULL)
        return -1;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(kit->folder, sizeof kit->folder, "%.200s/pawld-test-XXXXXX", parent != NULL ? parent : P_tmpdir);
    kit->scope = pawl_scope_new();
    *state = kit;
    return mkdtemp(kit->folder) != NULL && chdir(kit->folder) == 0 && kit->scope != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *unused, int kind, struct FTW *walk)
{
    (void)unused;
    (void)kind;
    (void)walk;
    return remove(path);
}

int kit_tear_down(void **state)
{
    struct kit *kit = *state;
    for (size_t i = 0; i < kit->count; i++) {
        struct pawld *pawld = kit->processes[i];
        (void)child_kill(&pawld->process);
        (void)close(pawld->standard);
        (void)close(pawld->trouble);
        free(pawld);
    }
    int left = chdir(kit->before);
    (void)nftw(kit->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    pawl_scope_free(kit->scope);
    free(kit);
    return left;
}

const struct test_setting kit_setting = { .set_up = kit_set_up, .tear_down = kit_tear_down };

/* ---- Processes --------------------------------------------------------------------------------------------------- */

struct beginning {
    const char *const *arguments;
    int output, errors;
};

static void become_pawld(void *user)
{
    const struct beginning *beginning = user;
    child_become(PAWLD_PROGRAM, beginning->arguments, -1, beginning->output, beginning->errors);
}

struct pawld *pawld_start(struct kit *kit, const char *const *arguments)
{
    struct pawld *pawld = calloc(1, sizeof *pawld);
    int standard[2], trouble[2];
    assert_true(kit->count < PROCESSES_MAX);
    assert_non_null(pawld);
    assert_int_equal(pipe2(standard, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(trouble, O_CLOEXEC | O_NONBLOCK), 0);
    /* Only our ends do not wait. */
    assert_int_equal(fcntl(standard[1], F_SETFL, 0), 0);
    assert_int_equal(fcntl(trouble[1], F_SETFL, 0), 0);
    kit->processes[kit->count++] = pawld;
    pawld->process = child_start(become_pawld, &(struct beginning){ arguments, standard[1], trouble[1] });
    (void)close(standard[1]);
    (void)close(trouble[1]);
    pawld->standard = standard[0];
    pawld->trouble = trouble[0];
    return pawld;
}

static void read_output(struct pawld *pawld)
{
    child_read(pawld->standard, pawld->output, OUTPUT_SIZE);
    child_read(pawld->trouble, pawld->errors, OUTPUT_SIZE);
}

void pawld_await_times(struct pawld *pawld, const char *text, int times)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        read_output(pawld);
        if (child_count(pawld->errors, text) >= times)
            return;
    }
    fail_msg("\"%s\" did not come %d times in\n%s", text, times, pawld->errors);
}

void pawld_await(struct pawld *pawld, const char *text)
{
    pawld_await_times(pawld, text, 1);
}

void pawld_await_base(struct pawld *pawld)
{
    static const char mark[] = "listening on ";
    pawld_await(pawld, "workflow"); /* the line is there as a whole */
    const char *at = strstr(pawld->errors, mark), *next;
    while (at != NULL && (next = strstr(at + 1, mark)) != NULL)
        at = next;
    if (at == NULL)
        fail_msg("it does not listen:\n%s", pawld->errors);
    else
        (void)snprintf(pawld->base, sizeof pawld->base, "%.*s", (int)strcspn(at + sizeof mark - 1, ", "),
                       at + sizeof mark - 1);
}

static bool names_a_store(const char *const *arguments)
{
    while (*arguments != NULL && strcmp(*arguments, "--store") != 0)
        arguments++;
    return *arguments != NULL;
}

struct pawld *pawld_serve(struct kit *kit, const char *const *arguments)
{
    const char *words[64] = { "--listen", "127.0.0.1:0", "--store", "sqlite:pawl.db" };
    size_t count = names_a_store(arguments) ? 2 : 4;
    while (*arguments != NULL && count < 63)
        words[count++] = *arguments++;
    struct pawld *pawld = pawld_start(kit, words);
    pawld_await_base(pawld);
    return pawld;
}

int pawld_await_end(struct pawld *pawld)
{
    int code = 0;
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; !child_has_ended(&pawld->process, &code);) {
        read_output(pawld);
        if (monotonic_ms() > until_ms)
            fail_msg("it does not end:\n%s", pawld->errors);
        rest_a_little();
    }
    read_output(pawld);
    return code;
}

int pawld_run(struct kit *kit, const char *const *arguments, struct pawld **out_pawld)
{
    *out_pawld = pawld_start(kit, arguments);
    return pawld_await_end(*out_pawld);
}

void pawld_kill(struct pawld *pawld, int number)
{
    assert_true(pawld->process > 0);
    assert_int_equal(kill(pawld->process, number), 0);
}

void assert_one_line(const struct pawld *pawld, const char *wanted)
{
    if (strstr(pawld->errors, wanted) == NULL)
        fail_msg("\"%s\" is not in\n%s", wanted, pawld->errors);
    assert_memory_equal(pawld->errors, "pawld: ", 7);
    assert_ptr_equal(strchr(pawld->errors, '\n'), pawld->errors + strlen(pawld->errors) - 1);
    assert_string_equal(pawld->output, "");
}

void pawld_forget(struct kit *kit)
{
    struct pawld *pawld = kit->processes[--kit->count];
    assert_int_equal(pawld->process, 0);
    (void)close(pawld->standard);
    (void)close(pawld->trouble);
    free(pawld);
}

/* ---- HTTP -------------------------------------------------------------------------------------------------------- */

struct received {
    char text[OUTPUT_SIZE];
    size_t size;
};

static size_t receive(char *bytes, size_t size, size_t count, void *user)
{
    struct received *received = user;
    size_t room = sizeof received->text - 1 - received->size, got = size * count < room ? size * count : room;
    memcpy(received->text + received->size, bytes, got);
    received->size += got;
    return size * count;
}

static struct curl_slist *headers_of(struct kit *kit, const char *body, const char *token)
{
    struct curl_slist *headers = NULL;
    if (body != NULL)
        headers = curl_slist_append(headers, "Content-Type: application/json");
    if (kit->origin != NULL)
        headers = curl_slist_append(headers, pawl_scope_format(kit->scope, "Origin: %s", kit->origin));
    if (token != NULL)
        headers = curl_slist_append(headers, pawl_scope_format(kit->scope, "Authorization: Bearer %s", token));
    return headers;
}

static const char *header_of(struct kit *kit, CURL *transfer, const char *name)
{
    struct curl_header *header = NULL;
    bool found = curl_easy_header(transfer, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK;
    return pawl_scope_format(kit->scope, "%s", found ? header->value : "");
}

static struct answer perform(struct kit *kit, CURL *transfer, const char *url, const char *method, const char *body,
                             const char *token)
{
    struct received *received = calloc(1, sizeof *received);
    struct curl_slist *headers = headers_of(kit, body, token);
    struct answer answer = { .status = 0 };
    pawl_value *value = NULL;
    curl_off_t retry_after_s = 0;
    curl_easy_setopt(transfer, CURLOPT_URL, url);
    curl_easy_setopt(transfer, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, headers);
    if (body != NULL)
        curl_easy_setopt(transfer, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(transfer, CURLOPT_WRITEDATA, received);
    curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, (long)PATIENCE_MS);
    curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYPEER, 0L); /* the tests' certificates are signed by nobody */
    curl_easy_setopt(transfer, CURLOPT_SSL_VERIFYHOST, 0L);
    if (curl_easy_perform(transfer) == CURLE_OK) {
        (void)curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &answer.status);
        (void)curl_easy_getinfo(transfer, CURLINFO_RETRY_AFTER, &retry_after_s);
        answer.retry_after_s = (long)retry_after_s;
        answer.challenge = header_of(kit, transfer, "WWW-Authenticate");
        answer.origin = header_of(kit, transfer, "Access-Control-Allow-Origin");
    }
    answer.body = pawl_scope_format(kit->scope, "%s", received->text);
    if (pawl_value_parse(kit->scope, received->text, received->size, &value, NULL) == PAWL_OK)
        answer.value = value;
    curl_slist_free_all(headers);
    curl_easy_cleanup(transfer);
    free(received);
    return answer;
}

struct answer ask(struct kit *kit, const struct pawld *pawld, const char *method, const char *url, const char *body,
                  const char *token)
{
    const char *whole = url[0] == '/' ? pawl_scope_format(kit->scope, "%s%s", pawld->base, url) : url;
    return perform(kit, curl_easy_init(), whole, method, body, token);
}

struct answer ask_unix(struct kit *kit, const char *path, const char *url)
{
    CURL *transfer = curl_easy_init();
    curl_easy_setopt(transfer, CURLOPT_UNIX_SOCKET_PATH, path);
    return perform(kit, transfer, pawl_scope_format(kit->scope, "http://localhost%s", url), "GET", NULL, NULL);
}

void create(struct kit *kit, const struct pawld *pawld, const char *workflow, const char *id, const char *params)
{
    const char *url = pawl_scope_format(kit->scope, "/workflows/%s/instances", workflow);
    const char *body =
        pawl_scope_format(kit->scope, "{\"id\": \"%s\", \"params\": %s}", id, params != NULL ? params : "null");
    struct answer answer = ask(kit, pawld, "POST", url, body, NULL);
    if (answer.status != 200 && answer.status != 201)
        fail_msg("create: %ld %s", answer.status, answer.body);
}

void await_ready(struct kit *kit, const struct pawld *pawld, long status, const char *text)
{
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    struct answer answer = ask(kit, pawld, "GET", "/health/ready", NULL, NULL);
    for (; answer.status != status; answer = ask(kit, pawld, "GET", "/health/ready", NULL, NULL)) {
        if (monotonic_ms() > until_ms)
            fail_msg("/health/ready says %ld", answer.status);
        rest_a_little();
    }
    assert_non_null(strstr(answer.body, text));
}

void await_status(struct kit *kit, const struct pawld *pawld, const char *workflow, const char *id, const char *status)
{
    const char *url = pawl_scope_format(kit->scope, "/workflows/%s/instances/%s", workflow, id);
    struct answer answer = { .status = 0 };
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        answer = ask(kit, pawld, "GET", url, NULL, NULL);
        if (strcmp(pawl_value_string(answer.value, "details.status", ""), status) == 0)
            return;
    }
    fail_msg("%s %s does not become %s: %ld %s", workflow, id, status, answer.status, answer.body);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void replace_file(const char *path, const char *text)
{
    write_file("replacement", text);
    assert_int_equal(rename("replacement", path), 0);
}

int count_lines(const char *path, const char *line)
{
    FILE *file = fopen(path, "re");
    char text[256];
    int count = 0;
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        text[strcspn(text, "\n")] = '\0';
        count += strcmp(text, line) == 0;
    }
    if (file != NULL)
        (void)fclose(file);
    return count;
}

void await_lines(const char *path, const char *line, int count)
{
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; count_lines(path, line) < count; rest_a_little()) {
        if (monotonic_ms() > until_ms)
            fail_msg("%s has the line \"%s\" %d times, not %d", path, line, count_lines(path, line), count);
    }
}

void make_token_file(const char *name, const char *scopes)
{
    char command[512];
    (void)snprintf(command, sizeof command,
                   PAWLD_PROGRAM
                   " token new --name %s --scope %s >>tokens 2>said && grep -o 'pawl_[^ ]*' said >%s.token",
                   name, scopes, name);
    assert_int_equal(system(command), 0);
}

void assert_usage_errors(struct kit *kit, const struct pawld_misuse *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct pawld *pawld;
        int code = pawld_run(kit, cases[i].arguments, &pawld);
        assert_one_line(pawld, cases[i].wanted);
        assert_int_equal(code, 2);
        pawld_forget(kit);
    }
}
