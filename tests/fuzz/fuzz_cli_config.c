/* fuzz_cli_config.c - the command-line tool's configuration file.  First line: the profile that is asked for, or nothing;
 * the rest: the file.  It is taken, each value with its place, or refused with the line that is wrong. */
#include "cli/config.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct pool pool = { NULL };
    struct problem problem = { .exit_code = EXIT_DONE };
    struct profile profile;
    char *name = fuzz_string(fuzz_line(&input));
    char *text = fuzz_string(fuzz_rest(&input));
    enum exit_code code = config_parse(&pool, &problem, "config", text, name[0] != '\0' ? name : NULL, &profile);
    if (code == EXIT_DONE) {
        assert(profile.header_count <= HEADERS_MAX);
        for (size_t i = 0; i < OPTION_COUNT; i++)
            if (profile.values[i] != NULL)
                assert(strncmp(profile.places[i], "config, line ", 13) == 0);
    } else {
        assert(code == EXIT_WRONG_USE && problem.exit_code == EXIT_WRONG_USE);
        assert(strstr(problem.text, "config") != NULL && strchr(problem.text, '\n') == NULL);
    }
    pool_clear(&pool);
    free(name);
    free(text);
    return 0;
}
