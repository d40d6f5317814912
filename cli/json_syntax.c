/* json_syntax.c - see json_syntax.h. */
#include "json_syntax.h"

#include <string.h>

enum { DEPTH_MAX = 2000 }; /* deeper than any server takes it */

/* ---- Tokens ---------------------------------------------------------------------------------------------------------- */

size_t json_blanks(const char *text, size_t size)
{
    size_t count = 0;
    while (count < size && (text[count] == ' ' || text[count] == '\t' || text[count] == '\n' || text[count] == '\r'))
        count++;
    return count;
}

size_t json_token_size(const char *text, size_t size)
{
    size_t at = 1;
    if (size == 0)
        return 0;
    if (text[0] == '"') {
        while (at < size && text[at] != '"')
            at += text[at] == '\\' && at + 1 < size ? 2 : 1;
        return at < size ? at + 1 : size;
    }
    if (strchr("{}[],:", text[0]) != NULL)
        return 1;
    while (at < size && strchr("{}[],:\" \t\r\n", text[at]) == NULL)
        at++;
    return at;
}

/* ---- Checking -------------------------------------------------------------------------------------------------------- */

struct reader {
    const char *text;
    size_t size, at;
    struct json_mistake *mistake;
    char open[DEPTH_MAX]; /* the brackets that are open */
    size_t depth;
};

static bool fail(struct reader *reader, size_t position, const char *what)
{
    bool is_early = position >= reader->size;
    *reader->mistake =
        (struct json_mistake){ is_early ? reader->size : position, is_early ? "the text ends too early" : what };
    return false;
}

static char peek(const struct reader *reader)
{
    return reader->at < reader->size ? reader->text[reader->at] : '\0';
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool is_hex(char letter)
{
    return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

static bool read_escape(struct reader *reader)
{
    size_t began = reader->at++;
    char letter = peek(reader);
    if (letter == 'u') {
        for (int i = 0; i < 4; i++) {
            reader->at++;
            if (!is_hex(peek(reader)))
                return fail(reader, reader->at, "four hexadecimal digits expected");
        }
    } else if (letter == '\0' || strchr("\"\\/bfnrt", letter) == NULL) {
        return fail(reader, reader->at < reader->size ? began : reader->size, "there is no such escape");
    }
    reader->at++;
    return true;
}

static bool read_string(struct reader *reader)
{
    reader->at++;
    while (peek(reader) != '"') {
        unsigned char letter = (unsigned char)peek(reader);
        size_t character = letter >= 0x80 ? text_character(reader->text + reader->at) : 1;
        if (letter < 0x20)
            return fail(reader, reader->at, "a control character stands in a string as \\u and its number");
        if (character == 0)
            return fail(reader, reader->at, "this is not UTF-8");
        if (letter != '\\')
            reader->at += character;
        else if (!read_escape(reader))
            return false;
    }
    reader->at++;
    return true;
}

static bool read_digits(struct reader *reader)
{
    if (!is_digit(peek(reader)))
        return fail(reader, reader->at, "a digit expected");
    while (is_digit(peek(reader)))
        reader->at++;
    return true;
}

static bool read_number(struct reader *reader)
{
    reader->at += peek(reader) == '-';
    if (peek(reader) == '0' && reader->at + 1 < reader->size && is_digit(reader->text[reader->at + 1]))
        return fail(reader, reader->at, "a number does not begin with 0");
    if (!read_digits(reader))
        return false;
    if (peek(reader) == '.') {
        reader->at++;
        if (!read_digits(reader))
            return false;
    }
    if (peek(reader) == 'e' || peek(reader) == 'E') {
        reader->at++;
        reader->at += peek(reader) == '+' || peek(reader) == '-';
        return read_digits(reader);
    }
    return true;
}

bool json_number_token(const char *text, size_t size)
{
    struct json_mistake mistake;
    struct reader reader = { .text = text, .size = size, .mistake = &mistake };
    return read_number(&reader) && reader.at == size;
}

static bool read_word(struct reader *reader)
{
    static const char *const words[] = { "true", "false", "null" };
    size_t size = json_token_size(reader->text + reader->at, reader->size - reader->at);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == size && memcmp(words[i], reader->text + reader->at, size) == 0) {
            reader->at += size;
            return true;
        }
    }
    return fail(reader, reader->at, "a value expected; texts stand in \"\"");
}

static void skip_blanks(struct reader *reader)
{
    reader->at += json_blanks(reader->text + reader->at, reader->size - reader->at);
}

/* The name of a member, and the colon behind it. */
static bool read_name(struct reader *reader)
{
    skip_blanks(reader);
    if (peek(reader) != '"')
        return fail(reader, reader->at, "a name in \"\" expected");
    if (!read_string(reader))
        return false;
    skip_blanks(reader);
    if (peek(reader) != ':')
        return fail(reader, reader->at, "':' expected");
    reader->at++;
    return true;
}

/* Opens it; *out_is_open false: it is empty, and closed already. */
static bool open_bracket(struct reader *reader, bool *out_is_open)
{
    char bracket = peek(reader);
    if (reader->depth == DEPTH_MAX)
        return fail(reader, reader->at, "this is too deep");
    reader->open[reader->depth++] = bracket;
    reader->at++;
    skip_blanks(reader);
    *out_is_open = peek(reader) != (bracket == '{' ? '}' : ']');
    if (*out_is_open)
        return bracket == '[' || read_name(reader);
    reader->at++;
    reader->depth--;
    return true;
}

/* Behind a value: what closes, as often as it does, or the comma before the next. */
static bool read_behind(struct reader *reader)
{
    for (;;) {
        skip_blanks(reader);
        if (reader->depth == 0)
            return true;
        bool is_object = reader->open[reader->depth - 1] == '{';
        char mark = peek(reader);
        if (mark != ',' && mark != (is_object ? '}' : ']'))
            return fail(reader, reader->at, is_object ? "',' or '}' expected" : "',' or ']' expected");
        reader->at++;
        if (mark == ',')
            return !is_object || read_name(reader);
        reader->depth--;
    }
}

bool json_check(const char *text, size_t size, struct json_mistake *out_mistake)
{
    struct reader reader = { .text = text, .size = size, .mistake = out_mistake };
    skip_blanks(&reader);
    if (reader.at == size) {
        *out_mistake = (struct json_mistake){ size, "there is no JSON" };
        return false;
    }
    do {
        bool is_open = false, is_read;
        skip_blanks(&reader);
        char letter = peek(&reader);
        if (letter == '{' || letter == '[')
            is_read = open_bracket(&reader, &is_open);
        else if (letter == '"')
            is_read = read_string(&reader);
        else
            is_read = letter == '-' || is_digit(letter) ? read_number(&reader) : read_word(&reader);
        if (!is_read || (!is_open && !read_behind(&reader)))
            return false;
    } while (reader.depth > 0);
    return reader.at == size || fail(&reader, reader.at, "there is more behind the value");
}

/* ---- Laying out ------------------------------------------------------------------------------------------------------ */

static void begin_line(struct text *out, size_t indent, size_t depth)
{
    if (indent > 0)
        text_put(out, "\n");
    text_repeat(out, " ", indent * depth);
}

void json_lay_out(struct text *out, const char *text, size_t size, size_t indent)
{
    size_t depth = 0;
    char last = '\0';
    for (size_t at = json_blanks(text, size), token; at < size;
         at += token + json_blanks(text + at + token, size - at - token)) {
        char mark = text[at];
        bool closes = mark == '}' || mark == ']', opened = last == '{' || last == '[';
        token = json_token_size(text + at, size - at);
        depth -= closes && depth > 0;
        if ((closes && !opened) || last == ',' || (opened && !closes))
            begin_line(out, indent, depth);
        text_put_size(out, text + at, token);
        if (mark == ':' && indent > 0)
            text_put(out, " ");
        depth += mark == '{' || mark == '[';
        last = mark;
    }
}

bool json_next_item(const char *text, size_t size, size_t *at, size_t *out_from, size_t *out_size)
{
    size_t depth = 0, end = *at + json_blanks(text + *at, size - *at);
    if (end < size && (text[end] == '[' || text[end] == ','))
        end++;
    end += json_blanks(text + end, size - end);
    *out_from = end;
    while (end < size && (depth > 0 || (text[end] != ',' && text[end] != ']'))) {
        depth += text[end] == '{' || text[end] == '[';
        depth -= text[end] == '}' || text[end] == ']';
        end += json_token_size(text + end, size - end);
        *at = end;
        end += json_blanks(text + end, size - end);
    }
    *out_size = *at > *out_from ? *at - *out_from : 0;
    return *out_size > 0;
}
