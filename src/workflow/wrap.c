/* wrap.c - middleware: each wrapper calls the next one further inside, and the innermost calls the function or body. */
#include "base/error.h"
#include "workflow/run.h"

/* The rest of the chain, for a run or for a step; the other pointer is NULL. */
struct pawl_next {
    const struct pw_wrapper *inward; /* the next wrapper; NULL: only the function or body is left */
    pawl_run *run;
    pawl_step *step;
    const struct pw_body *body; /* the step's body */
    const pawl_value *input;
    pawl_value **out_result;
    bool called;
};

static bool wraps(const struct pw_wrapper *wrapper, const pawl_next *next)
{
    return next->run != NULL ? wrapper->how.around_run != NULL : wrapper->how.around_step != NULL;
}

pawl_status pawl_next_call(pawl_next *next)
{
    if (next == NULL || next->called)
        return PAWL_INVALID;
    next->called = true;
    const struct pw_wrapper *wrapper = next->inward;
    while (wrapper != NULL && !wraps(wrapper, next))
        wrapper = pw_shelf_next(&wrapper->entry);
    if (wrapper == NULL)
        return next->run != NULL ? next->run->registration->run(next->run, next->input, next->out_result)
                                 : next->body->run(next->step, next->body, next->input, next->out_result);
    pawl_next further = *next;
    further.called = false;
    further.inward = pw_shelf_next(&wrapper->entry);
    return next->run != NULL ? wrapper->how.around_run(next->run, &further, wrapper->how.user)
                             : wrapper->how.around_step(next->step, &further, wrapper->how.user);
}

pawl_status pw_wrap_run(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    return pawl_next_call(&(pawl_next){
        .inward = pw_shelf_next(&run->shelf->wrappers), .run = run, .input = params, .out_result = out_result });
}

pawl_status pw_wrap_step(pawl_step *step, const struct pw_body *body, const pawl_value *input, pawl_value **out_result)
{
    return pawl_next_call(&(pawl_next){ .inward = pw_shelf_next(&step->run->shelf->wrappers),
                                        .step = step,
                                        .body = body,
                                        .input = input,
                                        .out_result = out_result });
}

pawl_status pawl_use(pawl_engine *engine, const struct pawl_middleware *middleware, struct pawl_error *error)
{
    if (engine == NULL || middleware == NULL || (middleware->around_run == NULL && middleware->around_step == NULL))
        return pw_error(error, PAWL_INVALID, "middleware needs a function around runs, or one around steps");
    PAWL_TRY(pawl_require_unstarted(engine, "middleware", error));
    struct pw_shelf *shelf = pw_shelf_of(engine);
    struct pw_wrapper *wrapper = shelf != NULL ? pw_shelf_take(shelf, sizeof *wrapper) : NULL;
    if (wrapper == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    wrapper->how = *middleware;
    pw_shelf_add(shelf, &shelf->wrappers, &wrapper->entry);
    return PAWL_OK;
}
