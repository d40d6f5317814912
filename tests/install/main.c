/* A user's program, as small as can be: it sees the installed headers and links the installed library. */
#include <pawl/pawl.h>

#include <stdio.h>

int main(void)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = "sqlite::memory:";
    struct pawl_error error;
    pawl_engine *engine = NULL;
    if (pawl_open(&options, &engine, &error) != PAWL_OK) {
        fprintf(stderr, "pawl_open: %s\n", error.text);
        return 1;
    }
    pawl_close(engine);
    puts(pawl_version());
    return 0;
}
