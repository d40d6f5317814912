/* compile.h - makes a module from a C file, with the compiler that $CC names (cc), $CFLAGS and $LDLIBS. */
#ifndef PAWLD_COMPILE_H
#define PAWLD_COMPILE_H

#include <pawl/value.h>

/* PAWL_OK; PAWL_FAILED: the compiler said no, on standard error, where it is left as it is; PAWL_INVALID: there is no
 * compiler, or it cannot be run; PAWL_INTERRUPTED: a signal that ends pawld came, *out_signal, and has ended the compiler
 * and what that had started.
 * signal_fd: of signals_open(), with children.  What comes of it meanwhile is taken, the end of other children as well:
 * look for those afterwards. */
pawl_status compile_module(const char *source, const char *output, int signal_fd, int *out_signal,
                           struct pawl_error *error);

#endif
