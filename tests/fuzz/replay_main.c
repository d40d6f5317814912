/* replay_main.c - runs a fuzz target over its corpus, for builds without libFuzzer: what the fuzzer once found stays found,
 * under every compiler and sanitizer.
 *
 * tools/corpus describes the format.  Each input is copied to memory of its own size, so that a read past its end shows. */
#include <stdio.h>

#include "fuzz.h"

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    if (file == NULL || getdelim(&text, &size, '\0', file) < 0) { /* a corpus is text: there is no NUL in it */
        perror(path);
        exit(1);
    }
    (void)fclose(file);
    return text;
}

static unsigned digit(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = letter != '\0' ? strchr(digits, letter) : NULL;
    assert(at != NULL); /* otherwise the corpus is no corpus */
    return (unsigned)(at - digits);
}

static void replay(const char *text, const char *end)
{
    uint8_t *data = malloc((size_t)(end - text) + 1);
    size_t size = 0;
    assert(data != NULL);
    while (text < end) {
        char letter = *text++;
        bool is_escaped = letter == '\\' && *text++ == 'x';
        data[size++] = (uint8_t)(is_escaped ? digit(text[0]) * 16 + digit(text[1]) : (unsigned char)letter);
        text += is_escaped ? 2 : 0;
    }
    uint8_t *exact = malloc(size > 0 ? size : 1);
    assert(exact != NULL);
    memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(data);
}

int main(int count, char **arguments)
{
    int replayed = 0;
    assert(count == 2);
    char *corpus = file_read(arguments[1]);
    for (char *record = corpus; record != NULL; replayed++) {
        assert(strncmp(record, "=== ", 4) == 0);
        char *input = strchr(record, '\n') + 1, *end = strstr(input - 1, "\n=== ");
        printf("%.*s\n", (int)(input - 1 - record), record); /* the last line tells which input it was */
        (void)fflush(stdout);
        replay(input, end != NULL ? end : input + strlen(input) - 1);
        record = end != NULL ? end + 1 : NULL;
    }
    free(corpus);
    printf("%d inputs replayed\n", replayed);
    return 0;
}
