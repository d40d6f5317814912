/* test_value_reals.c - which reals a text may hold: those that round to a finite double, as strtod() does. */
#include <math.h>

#include "kit/test.h"
#include "pawl/value.h"

static void assert_refused(pawl_scope *scope, const char *text)
{
    pawl_value *value = NULL;
    struct pawl_error error = { PAWL_OK, "" };
    if (pawl_value_parse(scope, text, strlen(text), &value, &error) != PAWL_INVALID_JSON)
        fail_msg("%s is taken", text);
    assert_non_null(strstr(error.text, "a number too large"));
}

/* The middle between the largest double and 2^1024: it is rounded to infinity, and all that is less is not. */
static const char middle[] =
    "1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070963"
    "3028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447573027"
    "0069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904174497792";

/* What strtod() makes infinite is refused, and nothing else. */
static void check_with_strtod(pawl_scope *scope, const char *text, unsigned *out_finite, unsigned *out_infinite)
{
    if (isinf(strtod(text, NULL))) {
        assert_refused(scope, text);
        ++*out_infinite;
        return;
    }
    assert_true(pawl_value_real(parse_value(scope, text), NULL, 0) == strtod(text, NULL));
    ++*out_finite;
}

TEST_WITH(scoped, pawl_scope *scope, the_largest_reals_are_those_that_round_to_a_double)
{
    char text[sizeof middle + 16];
    unsigned finite = 0, infinite = 0;
    (void)parse_value(scope, "1.7976931348623158e308");
    (void)parse_value(scope, "-1.7976931348623158e308");
    assert_refused(scope, "1.79769313486231581e308");
    for (size_t kept = 1; kept < sizeof middle; kept++) { /* its first digits, a little less and a little more */
        for (int change = -1; change <= 1; change++) {
            char last = (char)(middle[kept - 1] + change);
            if (last < (kept == 1 ? '1' : '0') || last > '9')
                continue;
            snprintf(text, sizeof text, "%.*s%ce%zu", (int)kept - 1, middle, last, sizeof middle - 1 - kept);
            check_with_strtod(scope, text, &finite, &infinite);
            snprintf(text, sizeof text, "-0.00%.*s%ce311", (int)kept - 1, middle, last);
            check_with_strtod(scope, text, &finite, &infinite);
        }
    }
    assert_true(finite > 500 && infinite > 300);
    snprintf(text, sizeof text, "%s.0", middle);
    check_with_strtod(scope, text, &finite, &infinite);
    snprintf(text, sizeof text, "%.308s1.999", middle);
    check_with_strtod(scope, text, &finite, &infinite);
}
