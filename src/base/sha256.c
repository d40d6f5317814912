/* sha256.c - see sha256.h; written from the standard.  The constants are the first 32 bits of the fractional parts
 * of the square roots (initial state) and of the cube roots (rounds) of the first primes. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t beginning[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn_right(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

/* The message schedule: the block as sixteen words, expanded to 64. */
static void spread(const unsigned char block[PW_SHA256_BLOCK], uint32_t words[64])
{
    for (size_t i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t early = words[i - 15], late = words[i - 2];
        words[i] = words[i - 16] + (turn_right(early, 7) ^ turn_right(early, 18) ^ early >> 3) + words[i - 7] +
                   (turn_right(late, 17) ^ turn_right(late, 19) ^ late >> 10);
    }
}

static void take_block(struct pw_sha256 *hash)
{
    uint32_t words[64], v[8];
    spread(hash->block, words);
    memcpy(v, hash->state, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t first =
            v[7] + (turn_right(v[4], 6) ^ turn_right(v[4], 11) ^ turn_right(v[4], 25)) + choice + rounds[i] + words[i];
        uint32_t second = (turn_right(v[0], 2) ^ turn_right(v[0], 13) ^ turn_right(v[0], 22)) + majority;
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += first;
        v[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++)
        hash->state[i] += v[i];
}

void pw_sha256_init(struct pw_sha256 *hash)
{
    *hash = (struct pw_sha256){ .size = 0 };
    memcpy(hash->state, beginning, sizeof beginning);
}

void pw_sha256_add(struct pw_sha256 *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash->block[hash->size++ % PW_SHA256_BLOCK] = bytes[i];
        if (hash->size % PW_SHA256_BLOCK == 0)
            take_block(hash);
    }
}

/* Pads the last block: a one bit, zeroes, and the number of bits. */
void pw_sha256_end(struct pw_sha256 *hash, unsigned char out_digest[PW_SHA256_SIZE])
{
    static const unsigned char one = 0x80, zero = 0;
    const uint64_t bits = hash->size * 8;
    pw_sha256_add(hash, &one, 1);
    while (hash->size % PW_SHA256_BLOCK != PW_SHA256_BLOCK - sizeof bits)
        pw_sha256_add(hash, &zero, 1);
    for (int shift = 56; shift >= 0; shift -= 8) {
        unsigned char byte = (unsigned char)(bits >> shift);
        pw_sha256_add(hash, &byte, 1);
    }
    for (size_t i = 0; i < PW_SHA256_SIZE; i++)
        out_digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}
