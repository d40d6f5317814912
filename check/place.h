/* place.h - an address as file and line, by addr2line (binutils). */
#ifndef CHECK_PLACE_H
#define CHECK_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* "src/order.c:31" where addr2line is there and the object has debug information, else "order.so+0x12f4". */
void place_tell(const char *object, uint64_t offset, char *text, size_t size);

#endif
