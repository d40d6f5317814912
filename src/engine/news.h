/* news.h (internal) - what a commit means for runs that its units do not name: an answer wakes a parent or reaches
 * its running turn; children are reached; a job becomes due, or its end makes room for another. */
#ifndef PW_ENGINE_NEWS_H
#define PW_ENGINE_NEWS_H

#include "engine/engine.h"

/* Tells the runners of this process and the watches for jobs.  Ignores refused units. */
void pw_news_tell(pawl_engine *engine, struct pw_unit **units, size_t count);

#endif
