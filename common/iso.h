/* iso.h - times as people and the HTTP API read them: "2026-01-01T00:00:00.000Z". */
#ifndef PW_COMMON_ISO_H
#define PW_COMMON_ISO_H

#include <stdbool.h>
#include <stdint.h>

enum { PW_ISO_SIZE = 32 };

/* 24 characters.  The year is written with its last four digits. */
void pw_iso_write(int64_t at_ms, char out_text[PW_ISO_SIZE]);
/* False, and "": the year does not have four digits. */
bool pw_iso_time(int64_t at_ms, char out_text[PW_ISO_SIZE]);

#endif
