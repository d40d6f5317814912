/* compile.h - compiles a C file into a module, with the compiler in $CC (default: cc), $CFLAGS and $LDLIBS. */
#ifndef PAWLD_COMPILE_H
#define PAWLD_COMPILE_H

#include <pawl/value.h>

/* PAWL_FAILED: the source does not compile; the compiler has written why to standard error.  PAWL_INVALID: there is
 * no compiler, or it cannot be run.  PAWL_INTERRUPTED: the signal *out_signal arrived; the compiler and its children
 * were ended. signal_fd is from signals_open(), with children.  Signals that arrive meanwhile are consumed, SIGCHLD
 * of other children included, so check for ended children afterwards. */
pawl_status compile_module(const char *source, const char *output, int signal_fd, int *out_signal,
                           struct pawl_error *error);

#endif
