/* fuzz.h - what the fuzz targets share: the entry that libFuzzer and replay_main.c call, and taking input apart.
 *
 * Inputs are text as far as possible, so that the corpus can be read and written by hand.  A property that does not hold
 * ends the process by assert(), which is never compiled out here. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_input {
    const char *at;
    size_t left;
};

static inline struct fuzz_input fuzz_input_of(const uint8_t *data, size_t size)
{
    return (struct fuzz_input){ size > 0 ? (const char *)data : "", size };
}

/* Up to the next newline, which is taken as well.  Empty at the end. */
static inline struct pw_text fuzz_line(struct fuzz_input *input)
{
    const char *newline = memchr(input->at, '\n', input->left);
    struct pw_text line = { input->at, newline != NULL ? (size_t)(newline - input->at) : input->left };
    size_t taken = newline != NULL ? line.size + 1 : line.size;
    input->at += taken;
    input->left -= taken;
    return line;
}

static inline struct pw_text fuzz_rest(const struct fuzz_input *input)
{
    return (struct pw_text){ input->at, input->left };
}

/* One of `count` choices, by the next byte: 0-9 and then a-z for people, any other byte for the fuzzer.  0 at the end. */
static inline size_t fuzz_choice(struct fuzz_input *input, size_t count)
{
    if (input->left == 0)
        return 0;
    unsigned char byte = (unsigned char)*input->at++;
    input->left--;
    size_t number = byte >= '0' && byte <= '9' ? byte - 48U : byte >= 'a' && byte <= 'z' ? byte - 'a' + 10U : byte;
    return number % count;
}

/* A NUL-terminated copy, to be freed; of exactly its size, so that a read past the end shows. */
static inline char *fuzz_string(struct pw_text text)
{
    char *copy = malloc(text.size + 1);
    assert(copy != NULL);
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return copy;
}

#endif
