/* place.h - an address as file and line, by addr2line (binutils). */
#ifndef CHECK_PLACE_H
#define CHECK_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "src/order.c:31"; false where addr2line is not there, or the object has no debug information. */
bool place_tell(const char *object, uint64_t offset, char *text, size_t size);

#endif
