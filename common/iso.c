/* iso.c - see iso.h. */
#include "common/iso.h"

#include <string.h>

#include "common/limits.h"

/* The Gregorian date of a day counted from 1970-01-01.  Years are counted from March, so that the leap day is a year's
 * last, in cycles of 400 years, which have 146097 days. */
static void date_of_day(int64_t day, int64_t *out_year, int *out_month, int *out_day)
{
    int64_t from_march = day + 719468; /* days from 0000-03-01 */
    int64_t cycle = (from_march >= 0 ? from_march : from_march - 146096) / 146097;
    int64_t in_cycle = from_march - cycle * 146097;
    int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    int in_year = (int)(in_cycle - (365 * year + year / 4 - year / 100));
    int month = (5 * in_year + 2) / 153; /* 0: March */
    *out_day = in_year - (153 * month + 2) / 5 + 1;
    *out_month = month < 10 ? month + 3 : month - 9;
    *out_year = year + cycle * 400 + (*out_month <= 2);
}

static void put_digits(char *at, int number, int count)
{
    for (int i = count - 1; i >= 0; i--, number /= 10)
        at[i] = (char)('0' + number % 10);
}

void pw_iso_write(int64_t at_ms, char out_text[PW_ISO_SIZE])
{
    int64_t day = at_ms / PW_DAY_MS - (at_ms % PW_DAY_MS < 0), year;
    int in_day = (int)(at_ms - day * PW_DAY_MS), month, day_of_month;
    memcpy(out_text, "0000-00-00T00:00:00.000Z", sizeof "0000-00-00T00:00:00.000Z");
    date_of_day(day, &year, &month, &day_of_month);
    put_digits(out_text, (int)(year % 10000), 4);
    put_digits(out_text + 5, month, 2);
    put_digits(out_text + 8, day_of_month, 2);
    put_digits(out_text + 11, in_day / 3600000, 2);
    put_digits(out_text + 14, in_day / 60000 % 60, 2);
    put_digits(out_text + 17, in_day / 1000 % 60, 2);
    put_digits(out_text + 20, in_day % 1000, 3);
}

bool pw_iso_time(int64_t at_ms, char out_text[PW_ISO_SIZE])
{
    out_text[0] = '\0';
    if (at_ms < 0 || at_ms > PW_TIME_MS_MAX)
        return false;
    pw_iso_write(at_ms, out_text);
    return true;
}
