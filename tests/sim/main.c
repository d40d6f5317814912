/* main.c - plays what the command line asks for (options.h): one seed, many, or the self-test.
 *
 * Seeds run in children, so that whatever a seed does to its process is seen and told.  A seed that fails is run again
 * alone and with a trace, which also proves that the seed is all there is to it.  Enough seeds must reach every
 * transition (transitions.h). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"
#include "options.h"
#include "world.h"

enum {
    JOBS_MAX = SIM_AT_ONCE_MAX + 1, /* one more, to play a seed again that failed */
    SECONDS_PER_SEED_MAX = 60,
    PLANTED_SEEDS = 3000,
    PROGRESS_MS = 2000,
};

static struct sim_world world;

/* What a child tells its parent, in shared memory. */
struct report {
    volatile uint64_t seed; /* the one that is on */
    struct sim_counts counts;
};

/* ---- Children ------------------------------------------------------------------------------------------------------------ */

/* Every jobs-th seed from the first one on. */
static _Noreturn void run_seeds(struct report *report, uint64_t first, uint64_t end, uint64_t stride, bool tracing,
                                bool echo, enum sim_plant_kind plant)
{
    sim_world_open(&world, &report->counts);
    world.plant.kind = plant;
    for (uint64_t seed = first; seed < end; seed += stride) {
        report->seed = seed;
        (void)alarm(SECONDS_PER_SEED_MAX);
        sim_fail_begin(seed, tracing, echo);
        sim_world_run(&world, seed);
    }
    sim_world_close(&world);
    (void)fflush(stdout);
    exit(EXIT_SUCCESS); /* not _Exit: leaks are looked for here */
}

static pid_t start(struct report *report, uint64_t first, uint64_t end, uint64_t stride, bool tracing, bool echo,
                   enum sim_plant_kind plant)
{
    (void)fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        sim_give_up("no process");
    if (child == 0)
        run_seeds(report, first, end, stride, tracing, echo, plant);
    return child;
}

/* 0: all went well; otherwise how the child ended. */
static int wait_for(pid_t child)
{
    int how = 0;
    if (waitpid(child, &how, 0) != child)
        sim_give_up("a lost process");
    return how;
}

static int rule_of(int how)
{
    return WIFEXITED(how) && WEXITSTATUS(how) > SIM_EXIT_RULE ? WEXITSTATUS(how) - SIM_EXIT_RULE : 0;
}

static struct report *share_reports(void)
{
    struct report *reports =
        mmap(NULL, JOBS_MAX * sizeof *reports, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reports == MAP_FAILED)
        sim_give_up("no shared memory");
    return reports;
}

/* ---- One seed ------------------------------------------------------------------------------------------------------------ */

static bool replay(const struct options *options, struct report *report, uint64_t seed, bool echo)
{
    int how = wait_for(start(report, seed, seed + 1, 1, true, echo, SIM_PLANT_NONE));
    if (how == 0)
        return true;
    if (WIFSIGNALED(how))
        printf("seed %llu: ended by signal %d (%s)\n", (unsigned long long)seed, WTERMSIG(how),
               WTERMSIG(how) == SIGALRM ? "it takes for ever: a deadlock?" : strsignal(WTERMSIG(how)));
    else if (rule_of(how) == 0)
        printf("seed %llu: exit code %d\n", (unsigned long long)seed, WEXITSTATUS(how));
    printf("replay: %s --seed %llu -v%s\n", options->program, (unsigned long long)seed,
           options->only_sqlite ? " --sqlite" : "");
    return false;
}

/* ---- Many seeds ---------------------------------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct sim_counts sum(const struct report *reports, uint64_t jobs)
{
    struct sim_counts total = { 0 };
    for (uint64_t i = 0; i < jobs; i++) {
#define ADD(name) total.name += reports[i].counts.name;
        SIM_COUNTS(ADD)
#undef ADD
        for (int j = 0; j < SIM_TRANSITION_COUNT; j++)
            total.transitions[j] += reports[i].counts.transitions[j];
    }
    return total;
}

static void print_counts(const struct sim_counts *counts, double seconds, uint64_t failures)
{
#define PRINT(name) printf("%llu %s, ", (unsigned long long)counts->name, #name);
    SIM_COUNTS(PRINT)
#undef PRINT
    printf("%.0f s, %.0f seeds/s: %llu failed\n", seconds, (double)counts->seeds / seconds,
           (unsigned long long)failures);
}

/* False: there were enough seeds, and yet some transition was never seen. */
static bool tell_transitions(const struct options *options, const struct sim_counts *counts)
{
    if (options->transitions)
        sim_transitions_print(counts->transitions);
    int missing = sim_transitions_unseen(counts->transitions, counts->seeds);
    int unseen = sim_transitions_unseen(counts->transitions, 0);
    printf("%d of %d transitions were seen\n", SIM_TRANSITION_COUNT - unseen, SIM_TRANSITION_COUNT);
    return missing == 0;
}

static void print_progress(const struct report *reports, const struct options *options, double since)
{
    struct sim_counts counts = sum(reports, options->jobs);
    double seconds = seconds_now() - since;
    printf("%llu of %llu seeds, %.0f/s\n", (unsigned long long)counts.seeds, (unsigned long long)options->seeds,
           (double)counts.seeds / seconds);
    (void)fflush(stdout);
}

/* A failed job's seed is told, and the job goes on behind it when asked to. */
static pid_t note_end(const struct options *options, struct report *reports, uint64_t job, int how, uint64_t *failures)
{
    uint64_t seed = reports[job].seed, end = options->from + options->seeds;
    struct report *spare = &reports[JOBS_MAX - 1];
    if (how == 0)
        return 0;
    ++*failures;
    if (replay(options, spare, seed, false))
        printf("seed %llu failed (%s %d), but not when it is run alone\n", (unsigned long long)seed,
               WIFSIGNALED(how) ? "signal" : "exit code", WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    if (!options->keep_going)
        return 0;
    return start(&reports[job], seed + options->jobs, end, options->jobs, false, false, SIM_PLANT_NONE);
}

static bool run_many(const struct options *options, struct report *reports)
{
    pid_t children[JOBS_MAX] = { 0 };
    uint64_t failures = 0;
    uint64_t running = options->jobs;
    double since = seconds_now(), told = since;
    for (uint64_t i = 0; i < options->jobs; i++)
        children[i] = start(&reports[i], options->from + i, options->from + options->seeds, options->jobs, false, false,
                            SIM_PLANT_NONE);
    while (running > 0) {
        (void)usleep(20000);
        for (uint64_t i = 0; i < options->jobs; i++) {
            int how = 0;
            if (children[i] == 0 || waitpid(children[i], &how, WNOHANG) != children[i])
                continue;
            children[i] = note_end(options, reports, i, how, &failures);
            running -= children[i] == 0;
        }
        if (!options->quiet && seconds_now() - told > PROGRESS_MS / 1000.0) {
            print_progress(reports, options, since);
            told = seconds_now();
        }
    }
    struct sim_counts counts = sum(reports, options->jobs);
    bool reached = tell_transitions(options, &counts);
    print_counts(&counts, seconds_now() - since, failures);
    return failures == 0 && reached;
}

static bool run_one(const struct options *options, struct report *report)
{
    bool good = replay(options, report, options->seed, options->verbose);
    if (good)
        printf("seed %llu: every invariant holds\n", (unsigned long long)options->seed);
    if (options->transitions)
        sim_transitions_print(report->counts.transitions);
    return good;
}

/* ---- The self-test ------------------------------------------------------------------------------------------------------- */

static bool find_plant(struct report *report, enum sim_plant_kind plant, bool verbose)
{
    int how = wait_for(start(report, 1, 1 + PLANTED_SEEDS, 1, verbose, false, plant));
    int rule = rule_of(how);
    bool found = sim_plant_is_found_by(plant, rule);
    printf("%s: %s", found ? "found" : "NOT FOUND", sim_plant_text(plant));
    if (rule > 0)
        printf(" (seed %llu, invariant %d)\n", (unsigned long long)report->seed, rule);
    else
        printf(" (exit code %d)\n", how);
    return found;
}

static bool self_test(struct report *reports, bool verbose)
{
    int missed = 0;
    for (int plant = SIM_PLANT_NONE + 1; plant < SIM_PLANT_COUNT; plant++)
        missed += !find_plant(&reports[0], (enum sim_plant_kind)plant, verbose);
    printf("%d of %d planted violations were found\n", SIM_PLANT_COUNT - 1 - missed, SIM_PLANT_COUNT - 1);
    return missed == 0;
}

/* ---- The invariants, in words -------------------------------------------------------------------------------------------- */

/* As a line "7. **The rule.**". */
static bool is_written(FILE *file, int number, const char *text)
{
    char line[400], expected[400];
    int size = snprintf(expected, sizeof expected, "%d. **%c%s.**", number, text[0] - ('a' - 'A'), text + 1);
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, expected, (size_t)size) == 0)
            return true;
    }
    return false;
}

static bool check_rules(const char *path)
{
    FILE *file = fopen(path, "r");
    bool good = file != NULL;
    if (file == NULL)
        perror(path);
#define CHECK_RULE(number, code, text)                                                                                 \
    if (file != NULL && !is_written(file, number, text)) {                                                             \
        printf("%s does not say: %d. %s\n", path, number, text);                                                       \
        good = false;                                                                                                  \
    }
    SIM_RULES(CHECK_RULE)
#undef CHECK_RULE
    if (file != NULL)
        (void)fclose(file);
    return good;
}

static bool print_rules(void)
{
#define PRINT_RULE(number, code, text) printf("%d. %s\n", number, text);
    SIM_RULES(PRINT_RULE)
#undef PRINT_RULE
    return true;
}

int main(int count, char **arguments)
{
    struct options options = sim_options_parse(count, arguments);
    struct report *reports = share_reports();
    bool good;
    world.only_sqlite = options.only_sqlite; /* for all children */
    if (options.rules)
        good = print_rules();
    else if (options.rules_in != NULL)
        good = check_rules(options.rules_in);
    else if (options.self_test)
        good = self_test(reports, options.verbose);
    else if (options.single)
        good = run_one(&options, &reports[0]);
    else
        good = run_many(&options, reports);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
