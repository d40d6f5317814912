/* columns.h - the columns of the lists that the server answers page by page. */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include "table.h"

extern const struct column workflow_columns[], instance_columns[], run_columns[], delivery_columns[];

#endif
