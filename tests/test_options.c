/* test_options.c - command lines read by a table of options, and what is said when they are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/program.h"

#define LENGTH(list) (sizeof(list) / sizeof(list)[0])

struct values {
    bool all;
    const char *text, *choice;
    int64_t number, ms;
    double real;
    struct pw_texts texts;
    struct pw_asked asked;
};

#define AT(field) .offset = offsetof(struct values, field)
static const struct pw_option table[] = {
    PW_OPTIONS_OF("first"),
    { "all", 'a', PW_OPTION_FLAG, NULL, .help = "everything", AT(all) },
    { "text", 't', PW_OPTION_TEXT, "TEXT", .help = "what to say", AT(text) },
    { "choice", 0, PW_OPTION_CHOICE, "C", .help = "one of two", .choices = "red green", AT(choice) },
    PW_OPTIONS_OF("second"),
    { "number", 'n', PW_OPTION_NUMBER, "N", .help = "how many", .min = 1, .max = 9, AT(number) },
    { "for", 0, PW_OPTION_DURATION, "D", .help = "how long", AT(ms) },
    { "real", 0, PW_OPTION_REAL, "R", .help = "how much", .max = 2, AT(real) },
    { "item", 'i', PW_OPTION_TEXTS, "X", .help = "- what\\ else", .max = 2, AT(texts) },
    { NULL, 0, PW_OPTION_NUMBER, NULL, .help = "only in a file", .key = "limits.n" },
    PW_OPTIONS_ASKED(struct values, asked),
};
#undef AT

static const struct pw_section examples = { "examples", .examples = (const struct pw_entry[]){ { ".do it", "why" },
                                                                                               { NULL, NULL } } };
static const struct pw_program program = {
    .page = { .name = "do it",
              .summary = "does it",
              .usage = (const char *const[]){ "do it", "do -x", NULL },
              .description = "First.\n\n'Second.",
              .sections = &examples,
              .section_count = 1,
              .volume = 1,
              .version = "9" },
    .options = table,
    .option_count = LENGTH(table),
};

/* Words with a blank between them; arguments are joined in out_arguments.  False: problem says why. */
static bool parse(const char *line, struct values *out_values, char out_arguments[128], char problem[PW_PROBLEM_SIZE])
{
    static char copy[256]; /* texts are borrowed */
    char *words[16] = { "do" };
    int count = 1;
    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        words[count++] = word;
    struct pw_words reader = { .words = words, .count = count, .position = 1 };
    const struct pw_option_list options = pw_program_options(&program);
    *out_values = (struct values){ 0 };
    out_arguments[0] = '\0';
    for (;;) {
        struct pw_word word;
        enum pw_words_status status = pw_words_next(&reader, options.items, "do", &word, problem);
        if (status != PW_WORDS_FOUND)
            return status == PW_WORDS_END;
        if (word.option == NULL)
            strcat(strcat(out_arguments, word.value), " ");
        else if (!pw_option_set(word.option, out_values, word.who, word.value, problem))
            return false;
    }
}

static void options_are_read_in_every_spelling(void **state)
{
    struct values values;
    char arguments[128], problem[PW_PROBLEM_SIZE];
    (void)state;
    assert_true(
        parse("-an3 x --choice=red --for 2min --real 1.5 -i a --item=b - -- --text", &values, arguments, problem));
    assert_true(values.all && values.number == 3 && values.ms == 120000 && values.real == 1.5);
    assert_string_equal(values.choice, "red");
    assert_int_equal(values.texts.count, 2);
    assert_string_equal(values.texts.items[1], "b");
    assert_string_equal(arguments, "x - --text ");
    assert_true(parse("-n=4 -t -a", &values, arguments, problem));
    assert_int_equal(values.number, 4);
    assert_string_equal(values.text, "-a");
}

static void what_is_wrong_is_told(void **state)
{
    static const struct {
        const char *line, *problem;
    } list[] = {
        { "--txt a", "do has no option --txt; did you mean --text?" },
        { "--zzz=a", "do has no option --zzz=a (see do --help)" },
        { "-az", "do has no option -az; did you mean --all?" },
        { "--limits.n 3", "do has no option --limits.n (see do --help)" },
        { "--all=1", "--all takes no value" },
        { "-n", "-n needs a value: N" },
        { "-n 0", "-n is a whole number from 1 to 9, not \"0\"" },
        { "-n 99999999999999999999", "-n is a whole number from 1 to 9, not \"99999999999999999999\"" },
        { "--real nan", "--real is a number from 0 to 2, not \"nan\"" },
        { "--for 0s", "--for is a duration such as 500ms, 10s, 2min or 1h, not \"0s\"" },
        { "--choice rd", "--choice is not \"rd\"; did you mean red?" },
        { "--choice yellowish", "--choice is one of: red green; not \"yellowish\"" },
        { "--text=", "--text is empty; it is a text" },
        { "-i a -i b -i c", "-i: there are at most 2" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(list); i++) {
        struct values values;
        char arguments[128], problem[PW_PROBLEM_SIZE];
        assert_false(parse(list[i].line, &values, arguments, problem));
        assert_string_equal(problem, list[i].problem);
    }
}

static void one_page_is_help_and_manual(void **state)
{
    struct pw_buffer help = { 0 }, manual = { 0 };
    (void)state;
    assert_false(pw_program_answer(&program, &(struct pw_asked){ .help = false }, &help));
    assert_true(pw_program_answer(&program, &(struct pw_asked){ .help = true }, &help));
    assert_non_null(strstr(help.data, "do it: does it\n\nusage: do it\n       do -x\n\nFirst.\n\n'Second.\n\nfirst\n"));
    assert_non_null(strstr(help.data, "\n  -a, --all                 everything\n"));
    assert_non_null(strstr(help.data, "\nsecond\n  -n, --number N            how many\n"));
    assert_non_null(strstr(help.data, "\n  limits.n                  only in a file\n"));
    assert_non_null(strstr(help.data, "\nexamples\n  .do it\n      why\n"));
    assert_true(pw_program_answer(&program, &(struct pw_asked){ .manual = true }, &manual));
    assert_memory_equal(manual.data, ".TH do-it 1 \"\" \"pawl 9\" \"Pawl\"\n.SH NAME\ndo\\-it \\- does it\n", 50);
    assert_non_null(strstr(manual.data, "\n.PP\n\\&'Second.\n.SH FIRST\n.TP\n.B \\-a, \\-\\-all\neverything\n"));
    assert_non_null(strstr(manual.data, "\n\\- what\\e else\n"));
    assert_non_null(strstr(manual.data, "\nwhy:\n.PP\n.RS 4\n.nf\n\\&.do it\n.fi\n.RE\n"));
    pw_buffer_clear(&help);
    pw_buffer_clear(&manual);
}

static void words_are_completed(void **state)
{
    static const struct {
        const char *words[3];
        int count;
        const char *offered;
    } list[] = {
        { { "--cho" }, 1, "--choice\tone of two\n" },
        { { "--choice", "g" }, 2, "green\t\n" },
        { { "--choice", "" }, 2, "red\t\ngreen\t\n" },
        { { "-n", "" }, 2, NULL },
        { { "" }, 1, "<file>\t\n" },
        { { "-a", "x" }, 2, "<file>\t\n" },
        { { "--limi" }, 1, NULL },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(list); i++) {
        struct pw_buffer out = { 0 };
        char *words[] = { "do", "--complete", "--", (char *)list[i].words[0], (char *)list[i].words[1] };
        assert_true(pw_program_complete(&program, 3 + list[i].count, words, &out));
        assert_string_equal(out.data != NULL ? out.data : "", list[i].offered != NULL ? list[i].offered : "");
        pw_buffer_clear(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read_in_every_spelling),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(one_page_is_help_and_manual),
        cmocka_unit_test(words_are_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
