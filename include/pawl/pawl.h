/* pawl.h - includes everything that a program which hosts workflows needs.  testing.h is separate, for tests. */
#ifndef PAWL_H
#define PAWL_H

#include "engine.h"
#include "hooks.h"
#include "runner.h"
#include "service.h"
#include "status.h"
#include "value.h"
#include "workflow.h"

#define PAWL_VERSION "0.1.0"
#define PAWL_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

#ifdef __cplusplus
extern "C" {
#endif
/* The version of the linked library, which may be newer than this header. */
PAWL_API const char *pawl_version(void);
#ifdef __cplusplus
}
#endif
#endif
