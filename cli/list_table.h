/* list_table.h - the table of instances, of `instances list` and `instances watch`. */
#ifndef CLI_LIST_TABLE_H
#define CLI_LIST_TABLE_H

#include "session.h"
#include "table.h"

void list_table_init(struct table *table);
/* instances: as the API lists them, each with its "workflowName". */
void list_table_add(struct session *session, struct table *table, const json_t *instances);

#endif
