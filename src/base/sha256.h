/* sha256.h - SHA-256 (FIPS 180-4), for ids that are derived from a caller's text and must not collide even if the
 * caller tries. */
#ifndef PW_BASE_SHA256_H
#define PW_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { PW_SHA256_SIZE = 32, PW_SHA256_BLOCK = 64 };

struct pw_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[PW_SHA256_BLOCK];
};

void pw_sha256_init(struct pw_sha256 *hash);
void pw_sha256_add(struct pw_sha256 *hash, const void *data, size_t size);
/* Nothing can be added afterwards. */
void pw_sha256_end(struct pw_sha256 *hash, unsigned char out_digest[PW_SHA256_SIZE]);

#endif
