/* compile.h - makes a module from a C file, with the compiler that $CC names (cc), $CFLAGS and $LDLIBS. */
#ifndef PAWLD_COMPILE_H
#define PAWLD_COMPILE_H

#include <pawl/value.h>

/* PAWL_OK; PAWL_FAILED: the compiler said no, on standard error, where it is left as it is; PAWL_INVALID: there is no
 * compiler, or it cannot be run. */
pawl_status compile_module(const char *source, const char *output, struct pawl_error *error);

#endif
