/* place.h - finds the file and line of an address with addr2line (binutils). */
#ifndef CHECK_PLACE_H
#define CHECK_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes a text such as "src/order.c:31".  Returns false without addr2line, or if the object has no debug
 * information. */
bool place_tell(const char *object, uint64_t offset, char *text, size_t size);

#endif
