/* test_pawld_settings.c - flags and the configuration file: what is wrong is told in one line, with what would be
 * right. */
#include "kit.h"

#define SECRET "0123456789abcdef"

/* ---- Flags ------------------------------------------------------------------------------------------------------- */

TEST_OF(kit, wrong_flags_are_told_in_one_line_and_end_with_2)
{
    static const struct pawld_misuse cases[] = {
        { { NULL }, "which modules?" },
        { { "--stor", "sqlite:x.db", "a.so" }, "pawld has no option --stor; did you mean --store?" },
        { { "--wokers=3", "a.so" }, "pawld has no option --wokers=3; did you mean --workers?" },
        { { "--worker" }, "--worker needs a value" },
        { { "--worker", "a.c" }, "--worker takes a shared object, with or without --dev; \"a.c\" is source" },
        { { "--dev", "--worker", "a.so" }, "which modules?" },
        { { "--alow-tick", "a.so" }, "did you mean --allow-tick?" },
        { { "--quantum", "a.so" }, "pawld has no option --quantum (see pawld --help)" },
        { { "-x", "a.so" }, "pawld has no option -x" },
        { { "a.so", "--store" }, "--store needs a value" },
        { { "--store=", "a.so" },
          "--store is the URL of one database (run one pawld for each: docs/postgres.md), not that" },
        { { "--allow-tick=yes", "a.so" }, "--allow-tick takes no value" },
        { { "--workers", "many", "a.so" }, "--workers is a whole number from 0 to 1024, not \"many\"" },
        { { "--workers", "-1", "a.so" }, "--workers is a whole number from 0 to 1024, not \"-1\"" },
        { { "--workers", "1025", "a.so" }, "not \"1025\"" },
        { { "--workers", "3x", "a.so" }, "not \"3x\"" },
        { { "--workers", "99999999999999999999", "a.so" }, "not \"99999999999999999999\"" },
        { { "--rate-limit", "-1", "a.so" }, "--rate-limit is a number from 0 to" },
        { { "--rate-limit", "nan", "a.so" }, "not \"nan\"" },
        { { "--drain-ms", "-1", "a.so" }, "--drain-ms is a whole number from 0 to" },
        { { "--log", "xml", "a.so" }, "--log is one of: auto json plain; not \"xml\"" },
        { { "--log-level", "loud", "a.so" }, "--log-level is one of: debug info warn error" },
        { { "--mount", "api", "a.so" }, "--mount is a path like \"/api\"" },
        { { "--mount", "/api/", "a.so" }, "without a slash at its end" },
        { { "--listen", "7295", "a.so" }, "--listen is \"host:port\"" },
        { { "--listen", "localhost:http", "a.so" }, "not \"localhost:http\"" },
        { { "--listen", "127.0.0.1:70000", "a.so" }, "not \"127.0.0.1:70000\"" },
        { { "--listen", "::1:80", "a.so" }, "not \"::1:80\"" },
        { { "--listen", "unix:", "a.so" }, "not \"unix:\"" },
        { { "--tls-cert", "cert.pem", "a.so" }, "--tls-cert and --tls-key belong together" },
        { { "--rate-limit", "10", "a.so" }, "--rate-limit is for each token, and there are no tokens" },
        { { "--dev", "a.so" }, "--dev takes C source files" },
        { { "a.c" }, "pawld --dev a.c compiles and runs it" },
    };
    assert_usage_errors(kit, cases, LENGTH(cases));
}

TEST_OF(kit, help_is_complete_and_version_is_told)
{
    static const char *const wanted[] = {
        "--store",       "--listen",     "--mount",
        "--workers",     "--in-flight",  "--config",
        "--tokens",      "--tls-key",    "--tls-allow-readable-key",
        "--tls-cert",    "--cors",       "--allow-tick",
        "--log",         "--log-level",  "--drain-ms",
        "--dev",         "--help",       "--worker ",
        "workerModules", "--permission", "functions",
        "--version",     "--rate-limit", "token new",
        "webhooks",      "secretFile",   "webhookParallelism",
        "examples",
    };
    struct pawld *pawld;

    assert_int_equal(PAWLD_RUN(kit, &pawld, "--help"), 0);
    for (size_t i = 0; i < LENGTH(wanted); i++)
        assert_non_null(strstr(pawld->output, wanted[i]));
    assert_string_equal(pawld->errors, "");
    for (const char *line = pawld->output; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 90);

    assert_int_equal(PAWLD_RUN(kit, &pawld, "--version"), 0);
    assert_string_equal(pawld->output, "pawld " PAWL_VERSION "\n");
}

TEST_OF(kit, the_man_page_and_the_completion_know_every_flag_of_the_help)
{
    struct pawld *help, *page, *words;
    assert_int_equal(PAWLD_RUN(kit, &help, "--help"), 0);
    assert_int_equal(PAWLD_RUN(kit, &page, "--man"), 0);
    assert_int_equal(PAWLD_RUN(kit, &words, "--complete", "--", "--"), 0);
    size_t count = 0;
    for (const char *flag = help->output; (flag = strstr(flag, "      --")) != NULL; count++) {
        char written[96] = "\n.B ";
        flag += strlen("      ");
        size_t size = strcspn(flag, " \n"), used = strlen(written);
        for (size_t i = 0; i < size; i++)
            used +=
                (size_t)snprintf(written + used, sizeof written - used, "%s%c", flag[i] == '-' ? "\\" : "", flag[i]);
        assert_non_null(strstr(page->output, written));
        const char *offered = strstr(words->output, pawl_scope_format(kit->scope, "%.*s\t", (int)size, flag));
        assert_true(offered != NULL && (offered == words->output || offered[-1] == '\n'));
    }
    assert_int_equal(count, 22);
    assert_non_null(strstr(page->output, "\n.B limits.blockedThreads\n"));
}

TEST_OF(kit, values_are_completed_and_the_scripts_ask_pawld)
{
    static const char *const shells[] = { "bash", "zsh", "fish" };
    struct pawld *pawld;
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--complete", "--", "--log", "p"), 0);
    assert_string_equal(pawld->output, "plain\t\n");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--complete", "--", "--tokens", ""), 0);
    assert_string_equal(pawld->output, "<file>\t\n");
    for (size_t i = 0; i < LENGTH(shells); i++) {
        assert_int_equal(PAWLD_RUN(kit, &pawld, "--completion", shells[i]), 0);
        assert_non_null(strstr(pawld->output, "pawld --complete -- "));
        pawld_forget(kit);
    }
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--completion", "csh"), 2);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

#define HOOK(more)                                                                                                     \
    "{\"webhooks\": [{\"name\": \"a\", \"url\": \"http://x/\", \"events\": [\"onInstanceFinished\"]" more "}]}"

TEST_OF(kit, wrong_configurations_are_told_with_file_and_key)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        { "", "c.json: " },
        { "{", "(line 1, column " },
        { "[]", "c.json: a configuration is a JSON object" },
        { "{\"stor\": \"x\"}", "c.json: there is no key \"stor\"; did you mean \"store\"?" },
        { "{\"config\": \"x\"}", "there is no key \"config\"" },
        { "{\"tls.cert\": \"x\"}", "there is no key \"tls.cert\"" },
        { "{\"store\": 3}",
          "c.json: \"store\" is the URL of one database (run one pawld for each: docs/postgres.md), not 3" },
        { "{\"workers\": \"3\"}", "c.json: \"workers\" is a whole number from 0 to 1024, not \"3\"" },
        { "{\"workers\": 2.5}", "c.json: \"workers\" is a whole number" },
        { "{\"workers\": -1}", "not \"-1\"" },
        { "{\"allowTick\": 1}", "c.json: \"allowTick\" is true or false" },
        { "{\"rateLimit\": \"fast\"}", "\"rateLimit\" is a number" },
        { "{\"listen\": []}", "\"listen\" is a text, or a list of 1 to 16 texts" },
        { "{\"listen\": [1]}", "\"listen\" is a text, or a list" },
        { "{\"modules\": {}}", "\"modules\" is a text, or a list of 1 to 256 texts" },
        { "{\"log\": \"xml\"}", "\"log\" is one of: auto json plain" },
        { "{\"tls\": \"cert.pem\"}", "\"tls\" is an object" },
        { "{\"tls\": {\"crt\": \"x\"}}", "there is no key \"tls.crt\"; did you mean \"tls.cert\"?" },
        { "{\"limits\": {\"bodybytes\": 3}}", "did you mean \"limits.bodyBytes\"?" },
        { "{\"limits\": {\"bodyBytes\": 0}}", "\"limits.bodyBytes\" is a whole number from 1" },
        { "{\"limits\": {\"memoryBytes\": 1000}}", "\"limits.memoryBytes\" is a whole number from 1048576" },
        { "{\"limits\": {\"unreadEvents\": 0}}", "\"limits.unreadEvents\" is a whole number from 1" },
        { "{\"tokens\": \"" SECRET "\"}", "\"tokens\" is a list of texts" },
        { "{\"tokens\": [3]}", "\"tokens\" is a list of texts" },
        { "{\"webhooks\": {}}", "\"webhooks\" is a list of at most 32 objects" },
        { "{\"webhooks\": [3]}", "\"webhooks\" is a list of at most 32 objects" },
        { "{\"webhooks\": [{}]}", "\"webhooks.0.name\" is missing" },
        { "{\"webhooks\": [{\"nam\": \"a\"}]}",
          "there is no key \"webhooks.0.nam\"; did you mean \"webhooks.0.name\"?" },
        { "{\"webhooks\": [{\"name\": 3}]}", "\"webhooks.0.name\" is a text" },
        { "{\"webhooks\": [{\"events\": [\"onFire\"]}]}", "there is no \"onFire\"" },
        { "{\"webhooks\": [{\"events\": []}]}", "\"webhooks.0.events\" is a list" },
        { "{\"webhooks\": [{\"secret\": \"short\"}]}", "\"webhooks.0.secret\" is too short to be secret" },
        { "{\"webhooks\": [{\"secret\": \"" SECRET "\", \"secretFile\": \"s\"}]}", "a secret or a secretFile" },
        { "{\"webhooks\": [{\"timeoutMs\": 0}]}", "\"webhooks.0.timeoutMs\" is a whole number from 1" },
        { HOOK(""), "\"webhooks.0.secret\" or \"secretFile\" is missing" },
        { "{\"webhooks\": [{\"name\": \"a\", \"url\": \"file:///etc/passwd\", \"events\": [\"onInstanceFinished\"],"
          " \"secret\": \"" SECRET "\"}]}",
          "\"webhooks.0.url\" begins with http:// or https://" },
        { "{\"workerModules\": 3}", "\"workerModules\" is a text, or a list of 1 to 256 texts, not 3" },
        { "{\"functions\": []}", "\"functions\" is an object of at most 256 functions" },
        { "{\"functions\": {\"a\": 3}}", "\"functions\" is an object of at most 256 functions" },
        { "{\"functions\": {\"a\": {\"concurency\": 3}}}",
          "there is no key \"functions.a.concurency\"; did you mean \"functions.a.concurrency\"?" },
        { "{\"functions\": {\"a\": {\"concurrency\": 0}}}",
          "\"functions.a.concurrency\" is a whole number from 1 to 2147483647" },
        { "{\"functions\": {\"a.b\": {\"concurrency\": \"2\"}}}", "\"functions.a.b.concurrency\" is a whole number" },
        { "{\"webhookParallelism\": 65}", "\"webhookParallelism\" is a whole number from 1 to 64" },
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pawld *pawld;
        write_file("c.json", cases[i].text);
        int code = PAWLD_RUN(kit, &pawld, "--config", "c.json", "a.so");
        assert_one_line(pawld, cases[i].wanted);
        assert_null(strstr(pawld->errors, SECRET));
        assert_int_equal(code, 2);
        pawld_forget(kit);
    }
}

TEST_OF(kit, a_secret_that_cannot_be_read_is_told_and_ends_with_1)
{
    struct pawld *pawld;
    write_file("c.json", "{\"webhooks\": [{\"secretFile\": \"nowhere\"}]}");
    assert_int_equal(PAWLD_RUN(kit, &pawld, "--config", "c.json", "a.so"), 1);
    assert_one_line(pawld, "nowhere cannot be read");
}

TEST_OF(kit, the_file_does_what_flags_do)
{
    write_file("c.json", pawl_scope_format(kit->scope,
                                           "{\"store\": \"sqlite:other.db\", \"listen\": [\"127.0.0.1:0\", "
                                           "\"unix:pawl.sock\"], \"mount\": \"/flows\", \"modules\": [\"%s\"], "
                                           "\"workers\": 2, \"inFlight\": 10, \"allowTick\": true, \"log\": \"plain\", "
                                           "\"limits\": {\"bodyBytes\": 1000, \"steps\": 100, \"waits\": 100}}",
                                           GATES));
    struct pawld *pawld = PAWLD_START(kit, "--config", "c.json");
    pawld_await_base(pawld);

    assert_non_null(strstr(pawld->base, "/flows"));
    assert_non_null(strstr(pawld->errors, "store sqlite:other.db, 3 workflows (echo, gated, nap)"));
    assert_int_equal(access("other.db", F_OK), 0);
    assert_int_equal(ask(kit, pawld, "POST", "/_runner/tick", "{}", NULL).status, 200);
    assert_int_equal(ask_unix(kit, "pawl.sock", "/flows/workflows").status, 200);
    const char *large = pawl_scope_format(kit->scope, "{\"id\": \"a\", \"params\": \"%01000d\"}", 0);
    assert_int_equal(ask(kit, pawld, "POST", "/workflows/echo/instances", large, NULL).status, 413);
}

TEST_OF(kit, flags_win_over_the_file)
{
    write_file("c.json", "{\"store\": \"sqlite:other.db\", \"listen\": \"127.0.0.1:1\", \"mount\": \"/flows\","
                         " \"modules\": [\"nowhere.so\"], \"log\": \"json\"}");
    struct pawld *pawld = PAWLD_SERVE(kit, "--config", "c.json", "--mount=/mine", "--log", "plain", GATES);

    assert_non_null(strstr(pawld->base, "/mine"));
    assert_non_null(strstr(pawld->errors, "store sqlite:pawl.db"));
    assert_int_equal(access("other.db", F_OK), -1);
}

/* With the secret's file in place of one that is not here.  It then fails for want of the module alone. */
TEST_OF(kit, the_example_of_a_configuration_is_a_right_one)
{
    static const char secret[] = "/etc/pawl/billing.secret";
    struct pawld *pawld;
    char text[4096] = "";
    FILE *file = fopen(PAWL_SOURCE_DIR "/pawld/pawld.example.json", "re");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    (void)fclose(file);
    char *at = strstr(text, secret);
    assert_non_null(at);
    write_file("secret", SECRET "\n");
    write_file("c.json", pawl_scope_format(kit->scope, "%.*ssecret%s", (int)(at - text), text, at + strlen(secret)));

    int code = PAWLD_RUN(kit, &pawld, "--config", "c.json", "nowhere.so");

    assert_one_line(pawld, "module nowhere.so: No such file or directory");
    assert_int_equal(code, 1);
}
