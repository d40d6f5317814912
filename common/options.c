/* options.c - see options.h. */
#include "common/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/duration.h"
#include "common/limits.h"
#include "common/suggest.h"
#include "common/text.h"

enum { OPTIONS_MAX = 128, CHOICES_MAX = 8, CHOICE_SIZE = 32 };

bool pw_problem(char problem[PW_PROBLEM_SIZE], const char *format, ...)
{
    char text[PW_PROBLEM_SIZE]; /* the arguments may be the text that is replaced */
    va_list arguments;
    va_start(arguments, format);
    (void)pw_text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(problem, text, sizeof text);
    return false;
}

/* ---- Values --------------------------------------------------------------------------------------------------------------- */

static bool check_choice(const struct pw_option *option, const char *who, const char *value, char *problem)
{
    char words[CHOICES_MAX][CHOICE_SIZE];
    const char *choices[CHOICES_MAX];
    size_t count = 0;
    for (const char *at = option->choices; *at != '\0' && count < CHOICES_MAX; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        (void)snprintf(words[count], CHOICE_SIZE, "%.*s", (int)size, at);
        if (strcmp(words[count], value) == 0)
            return true;
        choices[count] = words[count];
        count++;
        at += size;
    }
    const char *nearest = pw_suggest(value, choices, count);
    if (nearest != NULL)
        return pw_problem(problem, "%s is not \"%.80s\"; did you mean %s?", who, value, nearest);
    return pw_problem(problem, "%s is one of: %s; not \"%.80s\"", who, option->choices, value);
}

void pw_option_wanted(const struct pw_option *option, char *out_text, size_t size)
{
    static const char *const wanted[] = {
        [PW_OPTION_FLAG] = "true or false",
        [PW_OPTION_FILE] = "a path",
        [PW_OPTION_JSON] = "JSON",
        [PW_OPTION_NAME] = "1 to 100 of a-z A-Z 0-9 _ -, not starting with -",
        [PW_OPTION_WORKFLOW] = "a workflow's name, which is 1 to 64 of a-z A-Z 0-9 _ -",
        [PW_OPTION_DURATION] = "a duration such as 500ms, 10s, 2min or 1h",
    };
    long long min = option->min, max = option->max;
    if (option->kind == PW_OPTION_OTHER)
        (void)snprintf(out_text, size, "%s", option->value);
    else if (option->kind == PW_OPTION_CHOICE)
        (void)snprintf(out_text, size, "one of: %s", option->choices);
    else if (option->kind == PW_OPTION_NUMBER)
        (void)snprintf(out_text, size, "a whole number from %lld to %lld", min, max);
    else if (option->kind == PW_OPTION_REAL)
        (void)snprintf(out_text, size, "a number from %lld to %lld", min, max);
    else if (option->kind == PW_OPTION_TEXTS)
        (void)snprintf(out_text, size, "a text, or a list of 1 to %lld texts", max);
    else if (max > 0)
        (void)snprintf(out_text, size, "a text of %lld to %lld bytes", min, max);
    else
        (void)snprintf(out_text, size, "%s", wanted[option->kind] != NULL ? wanted[option->kind] : "a text");
}

static bool is_number(const struct pw_option *option, const char *value)
{
    char *end;
    errno = 0;
    if (option->kind == PW_OPTION_REAL) {
        double real = strtod(value, &end);
        return end != value && *end == '\0' && real >= (double)option->min && real <= (double)option->max;
    }
    long long number = strtoll(value, &end, 10);
    return value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0 && number >= option->min &&
           number <= option->max;
}

static bool is_taken(const struct pw_option *option, const char *value)
{
    size_t size = strlen(value);
    int64_t ms;
    switch (option->kind) {
    case PW_OPTION_NUMBER:
    case PW_OPTION_REAL:
        return is_number(option, value);
    case PW_OPTION_DURATION:
        return pw_duration_parse_bare(value, 1000, &ms) && ms > 0 && ms <= 365 * PW_DAY_MS;
    case PW_OPTION_WORKFLOW:
        return pw_text_is_identifier(pw_text_of(value), PW_WORKFLOW_NAME_MAX, false);
    case PW_OPTION_NAME:
        return pw_text_is_identifier(pw_text_of(value), PW_INSTANCE_ID_MAX, true);
    case PW_OPTION_TEXT:
    case PW_OPTION_FILE:
    case PW_OPTION_JSON:
    case PW_OPTION_TEXTS:
        if (option->max == 0 || option->kind == PW_OPTION_TEXTS)
            return size > 0;
        return size >= (size_t)option->min && size <= (size_t)option->max;
    case PW_OPTION_FLAG:
    case PW_OPTION_CHOICE:
    case PW_OPTION_OTHER:
        break;
    }
    return true;
}

bool pw_option_check(const struct pw_option *option, const char *who, const char *value, char problem[PW_PROBLEM_SIZE])
{
    char wanted[160];
    if (option->kind == PW_OPTION_CHOICE)
        return check_choice(option, who, value, problem);
    if (is_taken(option, value))
        return true;
    pw_option_wanted(option, wanted, sizeof wanted);
    if (value[0] == '\0')
        return pw_problem(problem, "%s is empty; it is %s", who, wanted);
    return pw_problem(problem, "%s is %s, not \"%.80s\"", who, wanted, value);
}

bool pw_option_set(const struct pw_option *option, void *base, const char *who, const char *value,
                   char problem[PW_PROBLEM_SIZE])
{
    void *member = (char *)base + option->offset;
    struct pw_texts *texts = member;
    if (!pw_option_check(option, who, value, problem))
        return false;
    switch (option->kind) {
    case PW_OPTION_FLAG:
        *(bool *)member = true;
        break;
    case PW_OPTION_NUMBER:
        *(int64_t *)member = strtoll(value, NULL, 10);
        break;
    case PW_OPTION_REAL:
        *(double *)member = strtod(value, NULL);
        break;
    case PW_OPTION_DURATION:
        return pw_duration_parse_bare(value, 1000, member);
    case PW_OPTION_TEXTS:
        if (texts->count == (size_t)option->max)
            return pw_problem(problem, "%s: there are at most %lld", who, (long long)option->max);
        texts->items[texts->count++] = value;
        break;
    case PW_OPTION_TEXT:
    case PW_OPTION_FILE:
    case PW_OPTION_JSON:
    case PW_OPTION_CHOICE:
    case PW_OPTION_NAME:
    case PW_OPTION_WORKFLOW:
        *(const char **)member = value;
        break;
    case PW_OPTION_OTHER:
        break;
    }
    return true;
}

/* ---- Command lines ----------------------------------------------------------------------------------------------------- */

const struct pw_option *pw_option_find(const struct pw_option *const *options, const char *name, size_t size,
                                       char letter)
{
    for (; *options != NULL; options++) {
        const char *own = (*options)->name;
        if (name != NULL ? own != NULL && strlen(own) == size && memcmp(own, name, size) == 0
                         : (*options)->letter == letter)
            return *options;
    }
    return NULL;
}

static enum pw_words_status unknown(const struct pw_option *const *options, const char *program, const char *word,
                                    char *problem)
{
    const char *names[OPTIONS_MAX], *name = word + strspn(word, "-");
    char asked[64];
    size_t count = 0;
    for (; *options != NULL && count < OPTIONS_MAX; options++)
        if ((*options)->name != NULL && (*options)->help != NULL)
            names[count++] = (*options)->name;
    (void)snprintf(asked, sizeof asked, "%.*s", (int)strcspn(name, "="), name);
    const char *nearest = pw_suggest(asked, names, count);
    if (nearest != NULL)
        (void)pw_problem(problem, "%s has no option %.60s; did you mean --%s?", program, word, nearest);
    else
        (void)pw_problem(problem, "%s has no option %.60s (see %s --help)", program, word, program);
    return PW_WORDS_WRONG;
}

/* attached: its value in the same word, or NULL. */
static enum pw_words_status take(struct pw_words *words, const struct pw_option *option, const char *attached,
                                 struct pw_word *out_word, char *problem)
{
    out_word->option = option;
    out_word->value = attached != NULL ? attached : "";
    bool is_flag = option->kind == PW_OPTION_FLAG;
    if (is_flag == (attached == NULL))
        return PW_WORDS_FOUND;
    if (is_flag)
        (void)pw_problem(problem, "%s takes no value", out_word->who);
    else if (words->position == words->count)
        (void)pw_problem(problem, "%s needs a value: %s", out_word->who, option->value);
    else
        out_word->value = words->words[words->position++];
    return problem[0] == '\0' ? PW_WORDS_FOUND : PW_WORDS_WRONG;
}

static enum pw_words_status take_letter(struct pw_words *words, const struct pw_option *const *options,
                                        const char *program, struct pw_word *out_word, char *problem)
{
    const char *at = words->letters;
    const struct pw_option *option = pw_option_find(options, NULL, 0, *at);
    if (option == NULL)
        return unknown(options, program, words->words[words->position - 1], problem);
    bool is_flag = option->kind == PW_OPTION_FLAG;
    (void)snprintf(out_word->who, sizeof out_word->who, "-%c", *at);
    words->letters = is_flag && at[1] != '\0' ? at + 1 : NULL;
    return take(words, option, is_flag || at[1] == '\0' ? NULL : at + 1 + (at[1] == '='), out_word, problem);
}

enum pw_words_status pw_words_next(struct pw_words *words, const struct pw_option *const *options, const char *program,
                                   struct pw_word *out_word, char problem[PW_PROBLEM_SIZE])
{
    *out_word = (struct pw_word){ .value = "" };
    problem[0] = '\0';
    if (words->letters != NULL)
        return take_letter(words, options, program, out_word, problem);
    if (words->position < words->count && !words->options_ended && strcmp(words->words[words->position], "--") == 0) {
        words->options_ended = true;
        words->position++;
    }
    if (words->position >= words->count)
        return PW_WORDS_END;
    const char *word = words->words[words->position++];
    if (words->options_ended || word[0] != '-' || word[1] == '\0') {
        out_word->value = word;
        return PW_WORDS_FOUND;
    }
    if (word[1] != '-') {
        words->letters = word + 1;
        return take_letter(words, options, program, out_word, problem);
    }
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t size = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct pw_option *option = pw_option_find(options, name, size, '\0');
    if (option == NULL)
        return unknown(options, program, word, problem);
    (void)snprintf(out_word->who, sizeof out_word->who, "--%s", option->name);
    return take(words, option, equals != NULL ? equals + 1 : NULL, out_word, problem);
}
