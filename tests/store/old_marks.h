/* old_marks.h - rows as they were recorded while their texts were marks: for tests of migrations, in both databases. */
#ifndef OLD_MARKS_H
#define OLD_MARKS_H

#include "store/store.h"

/* SQL that adds events to run 1 of instance 1, in any version of the schema up to the sixth.  A failure has a "!" behind its
 * type. */
extern const char old_answers_sql[];
/* They have got what their types said, and keep their ids. */
void assert_old_answers(struct pw_store *store);

/* SQL that adds log lines to that run.  One that put steps back has a text of its own. */
extern const char old_repairs_sql[];
/* The first line is such a one, the others are not. */
void assert_old_repairs(struct pw_store *store);

#endif
