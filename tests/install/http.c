/* A stranger's program that serves the API: it must find the header and the library. */
#include <pawl/http.h>
#include <pawl/pawl.h>
#include <stdio.h>

int main(void)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_http_request request = PAWL_HTTP_REQUEST_INIT;
    struct pawl_http_response response;
    pawl_scope *scope = pawl_scope_new();
    pawl_engine *engine;
    pawl_http *http;
    options.store_url = "sqlite::memory:";
    request.method = "GET";
    request.target = "/api/version";
    if (pawl_open(&options, &engine, NULL) || pawl_http_new(engine, NULL, &http, NULL) ||
        pawl_http_answer(http, scope, &request, &response) || response.status != 200)
        return 1;
    printf("%s\n", pawl_version());
    pawl_http_free(http);
    pawl_close(engine);
    pawl_scope_free(scope);
    return 0;
}
