/* list_table.h - the table of instances, of `instances list` and `instances watch`. */
#ifndef CLI_LIST_TABLE_H
#define CLI_LIST_TABLE_H

#include "session.h"
#include "table.h"

/* For a list that begins with these: it has a column of versions if one of them has a version. */
void list_table_init(struct table *table, const json_t *instances);
/* instances: as the API lists them, each with its "workflowName". */
void list_table_add(struct session *session, struct table *table, const json_t *instances);

#endif
