/* io.h - SQLite's calls to the system fail as planned: the plan behind the shim. */
#ifndef FAULT_IO_H
#define FAULT_IO_H

#include "shim.h"

/* Also leaves out every real sync: nothing here pulls the plug, and a sync takes longer than all the rest. */
shim_hook_fn fault_io;

#endif
