/* iso.c - see iso.h. */
#include "base/iso.h"

#include <stdio.h>
#include <time.h>

#include "base/limits.h"

bool pw_iso_time(int64_t at_ms, char out_text[PW_ISO_SIZE])
{
    time_t seconds = (time_t)(at_ms / 1000);
    struct tm parts;
    out_text[0] = '\0';
    if (at_ms < 0 || at_ms > PW_TIME_MS_MAX || gmtime_r(&seconds, &parts) == NULL)
        return false;
    size_t size = strftime(out_text, PW_ISO_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out_text + size, PW_ISO_SIZE - size, ".%03dZ", (int)(at_ms % 1000));
    return true;
}
