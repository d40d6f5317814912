/* test_cli_table.c - help, man pages, completion and the guide know every command and every option of the one table. */
#include "shell.h"

#include "cli/commands.h"
#include "cli/invocation.h"

typedef void visit_fn(const struct command *const *path, size_t depth, void *user);

static void visit_below(const struct command **path, size_t depth, visit_fn *visit, void *user)
{
    visit(path, depth, user);
    const struct command *child = path[depth - 1]->children;
    for (; child != NULL && child->name != NULL; child++) {
        if (child->is_hidden)
            continue;
        path[depth] = child;
        visit_below(path, depth + 1, visit, user);
    }
}

static void visit_all(visit_fn *visit, void *user)
{
    const struct command *path[DEPTH_MAX + 1] = { &root_command };
    visit_below(path, 1, visit, user);
}

static void assert_has(const char *text, const char *wanted, const char *who)
{
    if (strstr(text, wanted) == NULL)
        fail_msg("%s does not have \"%s\":\n%s", who, wanted, text);
}

/* ---- Help ------------------------------------------------------------------------------------------------------------ */

static void check_help(const struct command *const *path, size_t depth, void *user)
{
    const char *words[DEPTH_MAX + 2];
    size_t count = 0;
    char wanted[64];
    const struct command *command = path[depth - 1];
    (void)user;
    for (size_t i = 1; i < depth; i++)
        words[count++] = path[i]->name;
    words[count++] = "--help";
    words[count] = NULL;
    struct outcome *outcome = cli_run(IN_A_PIPE, NULL, words);
    assert_int_equal(outcome->code, 0);
    assert_string_equal(outcome->errors, "");
    assert_has(outcome->output, "usage: pawl", command->name);
    for (const enum option_id *id = command->options; id != NULL && *id != OPTION_NONE; id++) {
        (void)snprintf(wanted, sizeof wanted, "--%s", option_table[*id].name);
        assert_has(outcome->output, wanted, command->name);
    }
    if (command->children == NULL) {
        assert_has(outcome->output, "\nexamples\n", command->name);
        assert_non_null(command->run);
    }
    if (!command->is_offline)
        assert_has(outcome->output, "PAWL_BASE_URL", command->name);
    for (const char *line = outcome->output; *line != '\0';) {
        size_t size = strcspn(line, "\n");
        if (size > 100 && memcmp(line, "  pawl", 6) != 0)
            fail_msg("a line is too long: %.*s", (int)size, line);
        line += size + (line[size] == '\n');
    }
    free(outcome);
}

TEST_IN(cli_setting, kit, E_help_is_on_every_level_with_examples_and_environment)
{
    visit_all(check_help, NULL);
}

/* An example that is not understood would mislead: each is parsed by the parser itself. */
static void check_examples(const struct command *const *path, size_t depth, void *user)
{
    const struct command *command = path[depth - 1];
    (void)user;
    for (const struct pw_entry *example = command->examples; example != NULL && example->name != NULL; example++) {
        const char *at = example->name;
        while ((at = strstr(at, "pawl ")) != NULL) { /* each pawl of a pipe */
            char text[256], *words[24] = { NULL };
            struct pool pool = { NULL };
            struct problem problem = { .text = "" };
            struct invocation invocation;
            int count = 0;
            (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "|<>)&"), at);
            for (char *word = text; *word != '\0' && count < 23;) {
                bool is_quoted = *word == '\'';
                word += is_quoted;
                words[count++] = word;
                word += strcspn(word, is_quoted ? "'" : " ");
                if (*word == '\'')
                    *word++ = '\0';
                while (*word == ' ')
                    *word++ = '\0';
            }
            if (invocation_parse(&pool, &problem, count, words, &invocation) != EXIT_DONE)
                fail_msg("%s: %s", example->name, problem.text);
            pool_clear(&pool);
            at += 5;
        }
    }
}

TEST_IN(cli_setting, kit, every_example_is_understood)
{
    visit_all(check_examples, NULL);
}

TEST(a_command_may_have_another_name_elsewhere)
{
    static const struct command commands[] = { { .name = "list", .summary = "what there is" }, { .name = NULL } };
    static const struct command short_forms[] = { { .name = "all", .same_as = &commands[0], .is_hidden = true },
                                                  { .name = "other" },
                                                  { .name = NULL } };
    static const struct command parent = { .name = "pawl", .children = short_forms };
    assert_ptr_equal(command_child(&parent, "all"), &commands[0]);
    assert_ptr_equal(command_child(&parent, "other"), &short_forms[1]);
    assert_null(command_child(&parent, "list"));
}

/* ---- Man pages ------------------------------------------------------------------------------------------------------- */

static void check_page(const struct command *const *path, size_t depth, void *user)
{
    static char page[OUTPUT_SIZE];
    char name[128] = "man/pawl", wanted[64];
    const struct command *command = path[depth - 1];
    for (size_t i = 1; i < depth; i++)
        (void)snprintf(name + strlen(name), sizeof name - strlen(name), "-%s", path[i]->name);
    (void)snprintf(name + strlen(name), sizeof name - strlen(name), ".1");
    FILE *file = fopen(name, "re");
    if (file == NULL)
        fail_msg("there is no %s", name);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    (void)fclose(file);
    assert_has(page, ".SH NAME\n", name);
    assert_has(page, ".SH SYNOPSIS\n", name);
    assert_has(page, ".SH ENVIRONMENT\n", name);
    assert_has(page, ".SH EXIT STATUS\n", name);
    for (const enum option_id *id = command->options; id != NULL && *id != OPTION_NONE; id++) {
        size_t size = (size_t)snprintf(wanted, sizeof wanted, "\\-\\-");
        for (const char *letter = option_table[*id].name; *letter != '\0'; letter++)
            size += (size_t)snprintf(wanted + size, sizeof wanted - size, "%s%c", *letter == '-' ? "\\" : "", *letter);
        assert_has(page, wanted, name);
    }
    ++*(int *)user;
}

TEST_IN(cli_setting, kit, E_man_pages_come_from_the_same_table)
{
    int count = 0;
    expect(CLI(IN_A_PIPE, "man", "--directory", "man"), 0, "", "");
    visit_all(check_page, &count);
    assert_true(count > 20);
    expect(CLI(IN_A_PIPE, "man", "instances", "get"), 0, ".TH pawl-instances-get 1 ", "");
    expect(CLI(IN_A_PIPE, "man", "--directory", "/nonexistent/x"), 2, "", "cannot be written");
}

/* ---- Completion -------------------------------------------------------------------------------------------------------- */

static void check_completion(const struct command *const *path, size_t depth, void *user)
{
    const struct command *command = path[depth - 1];
    const char *words[DEPTH_MAX + 8] = { "complete", "--" };
    size_t count = 2;
    char wanted[64];
    (void)user;
    for (size_t i = 1; i < depth; i++)
        words[count++] = path[i]->name;
    words[count] = "--";
    struct outcome *outcome = cli_run(IN_A_PIPE, NULL, words);
    for (const enum option_id *id = command->options; id != NULL && *id != OPTION_NONE; id++) {
        (void)snprintf(wanted, sizeof wanted, "--%s\t", option_table[*id].name);
        assert_has(outcome->output, wanted, command->name);
    }
    free(outcome);
    words[count] = "";
    outcome = cli_run(IN_A_PIPE, NULL, words);
    for (const struct command *child = command->children; child != NULL && child->name != NULL; child++) {
        (void)snprintf(wanted, sizeof wanted, "%s\t", child->name);
        assert_true((strstr(outcome->output, wanted) != NULL) == !child->is_hidden);
    }
    free(outcome);
}

TEST_IN(cli_setting, kit, E_completion_offers_what_the_table_has)
{
    assert_int_equal(setenv("PAWL_BASE_URL", "http://127.0.0.1:1/api", 1), 0); /* nobody: it offers nothing, quietly */
    visit_all(check_completion, NULL);
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "list", "--status", "e"), 0, "errored\t\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "list", "--status=e"), 0, "--status=errored\t\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "list", "--status", "=", "e"), 0, "errored\t\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "status", "--config", ""), 0, "<file>\t\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "completion", "z"), 0, "zsh\t\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "get", ""), 0, "", "");
}

TEST_IN(cli_setting, kit, E_completion_asks_the_server_for_workflows_and_instances)
{
    struct pawld *pawld = cli_serve(kit);
    create(kit, pawld, "nap", "n-1", NULL);
    await_status(kit, pawld, "nap", "n-1", "waiting");
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "list", "-w", "n"), 0, "nap\tworkflow\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "create", "ec"), 0, "echo\tworkflow\n", "");
    expect(CLI(IN_A_PIPE, "complete", "--", "instances", "get", "nap/"), 0, "nap/n-1\twaiting\n", "");
    assert_int_equal(unsetenv("PAWL_BASE_URL"), 0);
    expect(CLI(IN_A_PIPE, "complete", "--", "-u", pawld->base, "instances", "why", "n"), 0, "nap/n-1\twaiting\n", "");
}

TEST_IN(cli_setting, kit, E_bash_completes)
{
    expect(cli_shell("bash -c 'source <(pawl completion bash); COMP_WORDS=(pawl instances w); COMP_CWORD=2; _pawl; "
                     "echo ${COMPREPLY[@]}'"),
           0, "why watch\n", "");
    expect(cli_shell("bash -c 'source <(pawl completion bash); COMP_WORDS=(pawl status --col); COMP_CWORD=2; _pawl; "
                     "echo ${COMPREPLY[@]}; complete -p pawl'"),
           0, "--color\ncomplete -F _pawl pawl\n", "");
}

/* ---- The guide ------------------------------------------------------------------------------------------------------- */

static char guide[1 << 18];

static void check_guide(const struct command *const *path, size_t depth, void *user)
{
    const struct command *command = path[depth - 1];
    char wanted[128] = "pawl";
    (void)user;
    for (size_t i = 1; i < depth; i++)
        (void)snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), " %s", path[i]->name);
    if (command->children == NULL)
        assert_has(guide, wanted, "docs/cli.md");
    for (const enum option_id *id = command->options; id != NULL && *id != OPTION_NONE; id++) {
        (void)snprintf(wanted, sizeof wanted, "--%s", option_table[*id].name);
        assert_has(guide, wanted, "docs/cli.md");
    }
}

TEST_IN(cli_setting, kit, the_guide_names_every_command_option_and_variable)
{
    char wanted[64];
    FILE *file = fopen(PAWL_SOURCE_DIR "/docs/cli.md", "re");
    assert_non_null(file);
    guide[fread(guide, 1, sizeof guide - 1, file)] = '\0';
    (void)fclose(file);
    visit_all(check_guide, NULL);
    for (const enum option_id *id = global_options; *id != OPTION_NONE; id++) {
        (void)snprintf(wanted, sizeof wanted, "--%s", option_table[*id].name);
        assert_has(guide, wanted, "docs/cli.md");
    }
    for (const struct pw_entry *variable = variable_table; variable->name != NULL; variable++)
        assert_has(guide, variable->name, "docs/cli.md");
}
