/* words.c - work for programs in other languages: workers count the words of many texts.
 *
 *     ./words           runs words-1 in words.db and counts by itself
 *
 * As a module it does not count.  Its calls then wait for workers, any number of them, on any machine that reaches
 * the server:
 *
 *     pawld words.so
 *     python3 examples/workers/worker.py                          # a worker in Python
 *     sh examples/workers/worker.sh examples/workers/functions    # one in sh
 *     curl -s localhost:7295/api/workflows/words/instances --json '{"params": {"texts": ["a b", "c d e"]}}' */
#include <pawl/pawl.h>

enum { TEXTS_MAX = 100, AT_ONCE = 10 };

/* The lease ends the job of a worker that dies.  The timeout ends the job of one that lives but makes no progress. */
static const struct pawl_step_options counting = { .retries = 5, .delay = "250 ms", .timeout = "1 minute" };

/* One branch.  Its input is {"number": 1, "text": "..."}. */
static pawl_status count_text(pawl_run *run, const pawl_value *input, pawl_value **out_result)
{
    const char *name = pawl_run_format(run, "count text %d", (int)pawl_value_int(input, "number", 0));
    return pawl_call(run, name, "text.count", &counting, input, out_result);
}

static pawl_status words(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct pawl_branch branches[TEXTS_MAX];
    size_t count = pawl_value_size(params, "texts");
    long long sum = 0;

    if (count > TEXTS_MAX)
        return pawl_run_fail(run, "TooManyTexts", "%zu texts; at most %d are taken", count, TEXTS_MAX);
    for (size_t i = 0; i < count; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:i, s:V}", "number", (int)i + 1, "text",
                                 pawl_value_item(pawl_value_at(params, "texts"), i)));
        branches[i] = (struct pawl_branch){ .run = count_text, .input = input };
    }
    PAWL_TRY(pawl_all(run, "count", branches, count, AT_ONCE));
    for (size_t i = 0; i < count; i++)
        sum += pawl_value_int(branches[i].result, "words", 0);
    return pawl_return(run, out_result, "{s:I}", "words", sum);
}

PAWL_MODULE({ .name = "words", .run = words, .description = "Counts words, with workers" });

#ifndef PAWL_NO_MAIN
#include "host.h"

static pawl_status count_here(pawl_step *step, const pawl_value *data, pawl_value **out_result)
{
    int words_found = 0;
    char before = ' ';
    for (const char *at = pawl_value_string(data, "text", ""); *at != '\0'; before = *at++)
        words_found += before == ' ' && *at != ' ';
    return pawl_result(step, out_result, "{s:i}", "words", words_found);
}

/* Registered beside the workflow, so that this program needs no workers. */
PAWL_FUNCTIONS({ .name = "text.count", .run = count_here });

int main(int argc, char **argv)
{
    return host_run("sqlite:words.db", &pawl_module, "words", argc > 1 ? argv[1] : "words-1",
                    "{\"texts\": [\"to be or not to be\", \"that is the question\"]}");
}
#endif
