/* news.h (internal) - what a commit means to runs that its units do not speak of: an answer wakes a parent, or a turn of it
 * hears of it; children are reached; a job becomes due, or makes room for another. */
#ifndef PW_ENGINE_NEWS_H
#define PW_ENGINE_NEWS_H

#include "engine/engine.h"

/* Tells the runners of this process, and those who wait for jobs.  Units that were refused are no news. */
void pw_news_tell(pawl_engine *engine, struct pw_unit **units, size_t count);

#endif
