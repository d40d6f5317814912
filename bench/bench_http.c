/* bench_http.c - the cost of the HTTP API.  Measures requests per second with wrk on 256 kept connections: reading
 * an instance, and creating one durably.  The limit is libmicrohttpd with an empty handler and as many threads.
 * Also measures the memory of 2,000 streams and 2,000 idle connections. */
#include <pawl/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "http_crowd.h"
#include "http_empty.h"

enum { CLIENTS = 256, ROUNDS = 5, ROUND_S = 2, CROWD = 2000, THREADS_MIN = 2, THREADS_MAX = 8 };

#define INSTANCES "/api/workflows/http/instances"

struct stage {
    struct bench_place place;
    struct bench_host host;
    pawl_http *http;
    pawl_http_server *server;
    int port;
    char script[460]; /* wrk's script for creates */
};

static pawl_status wait_long(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params, (void)out_result;
    return pawl_sleep(run, "sleep", "30 days");
}

static void open_stage(struct stage *stage)
{
    static const struct pawl_workflow workflow = { .name = "http", .run = wait_long };
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    struct pawl_http_server_options server_options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct pawl_error error;
    bench_place_make(&stage->place);
    bench_host_prepare(&stage->host, &stage->place, &workflow, NULL);
    bench_warm_up(&stage->host);
    bench_create(&stage->host, "run");
    bench_check(pawl_runner_tick(stage->host.runner, 0, 0, NULL, &error), &error);
    bench_check(pawl_http_new(stage->host.engine, &options, &stage->http, &error), &error);
    server_options.listen = "127.0.0.1:0";
    bench_check(pawl_http_server_start(stage->http, &server_options, &stage->server, &error), &error);
    stage->port = pawl_http_server_port(stage->server);
}

static void close_stage(struct stage *stage)
{
    pawl_http_drain(stage->http);
    pawl_http_server_stop(stage->server, 1000);
    pawl_http_free(stage->http);
    bench_host_close(&stage->host);
    bench_place_remove(&stage->place);
}

/* ---- Memory ---------------------------------------------------------------------------------------------------------- */

static double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    bench_require(file != NULL && fscanf(file, "%*s %ld", &pages) == 1, "/proc/self/statm cannot be read");
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void measure_memory(struct stage *stage, struct http_crowd *crowd)
{
    double before = resident_bytes();
    http_crowd_open(crowd, stage->port, CROWD);
    http_crowd_ask(crowd, INSTANCES "/run"); /* makes them used connections that are kept */
    double kept = resident_bytes();
    http_crowd_open(crowd, stage->port, CROWD);
    http_crowd_ask(crowd, INSTANCES "/run/stream");
    double all = resident_bytes();
    struct bench_result result = { .name = "http_memory", .kind = BENCH_TIME, .unit = "bytes", .limit = 64 << 20 };
    result.value = all - before;
    bench_print(&result, "\"bytes_a_stream\": %.0f, \"bytes_a_kept_connection\": %.0f", (all - kept) / CROWD,
                (kept - before) / CROWD);
}

/* ---- Requests a second ----------------------------------------------------------------------------------------------- */

static void write_script(struct stage *stage)
{
    snprintf(stage->script, sizeof stage->script, "%s/create.lua", stage->place.directory);
    FILE *file = fopen(stage->script, "w");
    bench_require(file != NULL, "cannot write the script for wrk");
    fputs("local threads = 0\n"
          "function setup(thread) threads = threads + 1; thread:set('number', threads) end\n"
          "function init(arguments) prefix, count = arguments[1], 0 end\n"
          "local headers = { ['Content-Type'] = 'application/json' }\n"
          "function request()\n"
          "  count = count + 1\n"
          "  local body = '{\"id\":\"' .. prefix .. '-' .. number .. '-' .. count .. '\",\"params\":{\"order\":17}}'\n"
          "  return wrk.format('POST', '" INSTANCES "', headers, body)\n"
          "end\n",
          file);
    fclose(file);
}

/* Returns requests per second.  Every answer must be a success. */
static double drive(int port, const char *target, const char *script, int round)
{
    char command[1200], line[256], behind[600] = "";
    double rate = 0;
    if (script != NULL)
        snprintf(behind, sizeof behind, " -s %s", script);
    snprintf(command, sizeof command, "wrk -t2 -c%d -d%ds%s http://127.0.0.1:%d%s -- r%d", CLIENTS, ROUND_S, behind,
             port, target, round);
    FILE *wrk = popen(command, "r");
    bench_require(wrk != NULL, "cannot run wrk");
    while (fgets(line, sizeof line, wrk) != NULL) {
        bench_require(strstr(line, "Non-2xx") == NULL && strstr(line, "Socket errors") == NULL,
                      "wrk got errors for answers");
        (void)sscanf(line, "Requests/sec: %lf", &rate);
    }
    bench_require(pclose(wrk) == 0 && rate > 0, "wrk failed; is it installed?");
    return rate;
}

static void print_rate(const char *name, double *rates, double *limits)
{
    double ratios[ROUNDS];
    struct bench_result result = { .name = name, .kind = BENCH_RATE, .unit = "requests/s" };
    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = rates[i] / limits[i];
    /* The median of the rounds' own ratios, because other load on the machine affects both sides of a round. */
    double ratio = bench_percentile(ratios, ROUNDS, 0.5);
    result.value = bench_percentile(rates, ROUNDS, 0.5);
    result.limit = result.value / ratio;
    bench_print(&result, "\"best\": %.1f", rates[ROUNDS - 1]);
}

static int threads_of_server(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < THREADS_MIN ? THREADS_MIN : processors > THREADS_MAX ? THREADS_MAX : (int)processors;
}

static void measure_rates(struct stage *stage)
{
    double limits[ROUNDS], gets[ROUNDS], creates[ROUNDS];
    struct http_empty *empty = http_empty_start(threads_of_server());
    write_script(stage);
    for (int round = 0; round < ROUNDS; round++) {
        limits[round] = drive(http_empty_port(empty), "/", NULL, round);
        gets[round] = drive(stage->port, INSTANCES "/run", NULL, round);
        creates[round] = drive(stage->port, "", stage->script, round);
    }
    http_empty_stop(empty);
    print_rate("http_get", gets, limits);
    print_rate("http_create", creates, limits);
}

int main(void)
{
    struct stage stage;
    struct http_crowd crowd;
    http_crowd_start(&crowd);
    open_stage(&stage);
    measure_memory(&stage, &crowd);
    http_crowd_end(&crowd);
    measure_rates(&stage);
    close_stage(&stage);
    return 0;
}
