/* test_cli_settings.c - flags win over the environment, which wins over the profile; headers and tokens reach the server,
 * and tokens are shown nowhere. */
#include "../pawld/receiver.h"
#include "shell.h"

#include <sys/stat.h>

static const char secret[] = "pawl_secretsecretsecret";

static void write_config(const char *text)
{
    assert_true(mkdir(".config", 0700) == 0 || access(".config", F_OK) == 0);
    assert_true(mkdir(".config/pawl", 0700) == 0 || access(".config/pawl", F_OK) == 0);
    write_file(".config/pawl/config", text);
}

static void use_receiver(struct receiver *receiver)
{
    char base[64];
    (void)memset(receiver, 0, sizeof *receiver);
    receiver_open(receiver);
    (void)snprintf(base, sizeof base, "http://127.0.0.1:%d/api", receiver->port);
    assert_int_equal(setenv("PAWL_BASE_URL", base, 1), 0);
}

/* What the last request had for this header. */
static const char *last_header(struct receiver *receiver, const char *name)
{
    static char value[256];
    receiver_header(&receiver->requests[receiver_count(receiver) - 1], name, value, sizeof value);
    return value;
}

/* The receiver answers no JSON, which ends with 3; what it was asked is what counts here. */
static struct receiver receiver;
#define ASK(...) expect(CLI(IN_A_PIPE, "workflows", "list", __VA_ARGS__), 3, "", NULL)

TEST_IN(cli_setting, kit, E_headers_are_repeatable_and_those_of_the_line_win)
{
    use_receiver(&receiver);
    write_config("header = X-Team: shop\n[default]\nheader = X-Place: here\n");
    ASK("-H", "X-One: 1", "-HX-Two: 2", "--header=X-Place: there");
    assert_string_equal(last_header(&receiver, "X-One"), "1");
    assert_string_equal(last_header(&receiver, "X-Two"), "2");
    assert_string_equal(last_header(&receiver, "X-Team"), "shop");
    assert_string_equal(last_header(&receiver, "X-Place"), "there");
    receiver_close(&receiver);
}

TEST_IN(cli_setting, kit, tokens_come_from_a_file_a_command_and_the_environment)
{
    use_receiver(&receiver);
    write_file("token", "pawl_file \r\nmore\n");
    ASK("--token-file", "token");
    assert_string_equal(last_header(&receiver, "Authorization"), "Bearer pawl_file");
    ASK("--token-command", "echo pawl_command; echo more");
    assert_string_equal(last_header(&receiver, "Authorization"), "Bearer pawl_command");
    assert_int_equal(setenv("PAWL_TOKEN", "pawl_variable", 1), 0);
    ASK("-v");
    assert_string_equal(last_header(&receiver, "Authorization"), "Bearer pawl_variable");
    ASK("--token-file", "token");
    assert_string_equal(last_header(&receiver, "Authorization"), "Bearer pawl_file");
    ASK("-H", "Authorization: Basic x");
    assert_string_equal(last_header(&receiver, "Authorization"), "Basic x");
    write_config("[staging]\ntoken-file = ~/token\n");
    assert_int_equal(unsetenv("PAWL_TOKEN"), 0);
    ASK("--profile", "staging");
    assert_string_equal(last_header(&receiver, "Authorization"), "Bearer pawl_file");
    receiver_close(&receiver);
}

TEST_IN(cli_setting, kit, a_token_of_a_profile_is_for_its_own_server)
{
    use_receiver(&receiver);
    write_file("token", "pawl_file\n");
    write_config("[staging]\nbase-url = http://127.0.0.1:1/api\ntoken-file = ~/token\nheader = X-Key: staging\n");
    ASK("--profile", "staging"); /* PAWL_BASE_URL is another one */
    const char *head = receiver.requests[receiver_count(&receiver) - 1].head;
    assert_null(strstr(head, "Authorization"));
    assert_null(strstr(head, "X-Key"));
    ASK("--profile", "staging", "--token-file", "token");
    assert_string_equal(last_header(&receiver, "Authorization"), "Bearer pawl_file");
    receiver_close(&receiver);
}

static void assert_not_shown(struct outcome *outcome)
{
    if (strstr(outcome->output, secret) != NULL || strstr(outcome->errors, secret) != NULL)
        fail_msg("the token is shown:\n%s\n%s", outcome->output, outcome->errors);
    free(outcome);
}

TEST_IN(cli_setting, kit, a_token_is_never_shown)
{
    static const int statuses[] = { 401, 500, 200 };
    char header[64], url[128];
    use_receiver(&receiver);
    receiver_answers(&receiver, statuses, LENGTH(statuses));
    assert_int_equal(setenv("PAWL_TOKEN", secret, 1), 0);
    (void)snprintf(header, sizeof header, "Authorization: Bearer %s", secret);
    assert_not_shown(CLI(IN_A_PIPE, "workflows", "list", "-v"));
    assert_not_shown(CLI(IN_A_PIPE, "workflows", "list", "-v", "--json"));
    assert_not_shown(CLI(IN_A_PIPE, "workflows", "list", "-v", "-H", header));
    assert_not_shown(CLI(IN_A_PIPE, "workflows", "list", "-H", secret)); /* a header that is none */
    assert_not_shown(CLI(IN_A_PIPE, "instances", "watch", "a/b", "-v"));
    (void)snprintf(url, sizeof url, "http://me:%s@127.0.0.1:1/api", secret);
    assert_not_shown(CLI(IN_A_PIPE, "status", "-v", "-u", url));
    (void)snprintf(url, sizeof url, "ftp://me:%s@127.0.0.1:1/api", secret);
    assert_not_shown(CLI(IN_A_PIPE, "status", "-v", "-u", url));
    write_file("token", "pawl_secretsecretsecret with a blank\n");
    assert_not_shown(CLI(IN_A_PIPE, "status", "--token-file", "token"));
    receiver_close(&receiver);
}

TEST_IN(cli_setting, kit, profiles_say_where_servers_are)
{
    char text[512];
    struct pawld *pawld = PAWLD_SERVE(kit, CLI_MODULE);
    create(kit, pawld, "nap", "n-1", NULL);
    create(kit, pawld, "echo", "n-1", NULL);
    (void)snprintf(text, sizeof text,
                   "# where they are\nprofile = one\n\n[one]\nbase-url = %s/\nworkflow = nap\n[two]\nbase-url = "
                   "http://127.0.0.1:1/api\ntimeout=1s\n",
                   pawld->base);
    write_config(text);
    expect(CLI(IN_A_PIPE, "instances", "get", "n-1", "-o", "ids"), 0, "nap/n-1\n", "");
    expect(CLI(IN_A_PIPE, "workflows", "list", "--profile", "two"), 3, "", "127.0.0.1:1");
    assert_int_equal(setenv("PAWL_PROFILE", "two", 1), 0);
    expect(CLI(IN_A_PIPE, "workflows", "list"), 3, "", "127.0.0.1:1");
    expect(CLI(IN_A_PIPE, "workflows", "list", "--profile", "one"), 0, "nap", "");
    assert_int_equal(setenv("PAWL_BASE_URL", "http://127.0.0.1:2/api", 1), 0);
    expect(CLI(IN_A_PIPE, "workflows", "list"), 3, "", "127.0.0.1:2");
    expect(CLI(IN_A_PIPE, "workflows", "list", "--base-url", pawld->base), 0, "nap", "");
    expect(CLI(IN_A_PIPE, "workflows", "list", "--profile", "three"), 2, "", "there is no profile \"three\" in ");
    assert_int_equal(rename(".config/pawl/config", "elsewhere"), 0);
    assert_int_equal(unsetenv("PAWL_BASE_URL"), 0);
    expect(CLI(IN_A_PIPE, "workflows", "list", "--profile", "one", "--config", "elsewhere"), 0, "nap", "");
}

TEST_IN(cli_setting, kit, mistakes_in_the_file_are_told_with_their_line)
{
    write_config("base-url = http://x/api\nbase_url = y\n");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "config, line 2: there is no key \"base_url\"; did you mean base-url?");
    write_config("[default]\ntimeout = soon\n");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "config, line 2: timeout is a duration");
    write_config("[default\n");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "config, line 1: a section is \"[name]\"");
    write_config("nonsense\n");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "config, line 1: a line is \"key = value\"");
    write_config("[default]\nbase-url = x\n");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "config, line 2: base-url begins with http://");
    write_config("[default]\ntoken-command = exit 7\n");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "config, line 2: token-command failed, with exit code 7");
    write_config("[default]\nprofile = x\n");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "config, line 2: profile stands above all sections");
    assert_int_equal(setenv("PAWL_TIMEOUT", "never", 1), 0);
    write_config("");
    expect(CLI(IN_A_PIPE, "status"), 2, "", "PAWL_TIMEOUT is a duration");
}

TEST_IN(cli_setting, kit, a_server_on_a_unix_socket_and_one_with_another_mount_are_reached)
{
    struct pawld *pawld =
        PAWLD_START(kit, "--store", "sqlite:pawl.db", "--listen", "unix:socket", "--mount", "/engine", CLI_MODULE);
    pawld_await(pawld, "workflow");
    expect(CLI(IN_A_PIPE, "workflows", "list", "-u", "unix:socket:/engine"), 0, "approve", "");
    expect(CLI(IN_A_PIPE, "workflows", "list", "-u", "unix:socket"), 1, "",
           "the base URL ends with the server's mount");
}
