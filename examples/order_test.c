/* order_test.c - how to test a workflow: order.c in simulated time, without threads and without waiting.
 *
 * Run it:            ./order_test
 * Copy it:           include your workflow's file instead of order.c, and check what must be true of it. */
#define PAWL_NO_MAIN
#include "order.c"

#include <pawl/testing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define CHECK_OK(call) CHECK((call) == PAWL_OK)

/* A world with one order for two teapots. always_replay finds workflows that are not deterministic. */
static pawl_world *world_with_order(void)
{
    struct pawl_world_options options = PAWL_WORLD_OPTIONS_INIT;
    pawl_world *world;
    options.always_replay = true;
    CHECK_OK(pawl_world_open(&options, &world, NULL));
    CHECK_OK(pawl_register_module(pawl_world_engine(world), &pawl_module, NULL));
    CHECK_OK(pawl_world_create(world, "order", "o-1", "{\"sku\": \"teapot\", \"quantity\": 2}", NULL));
    return world;
}

static struct pawl_instance order_of(pawl_world *world)
{
    struct pawl_instance instance;
    CHECK_OK(pawl_world_get(world, "order", "o-1", &instance, NULL));
    return instance;
}

static void approve(pawl_world *world)
{
    CHECK_OK(pawl_world_send_event(world, "order", "o-1", "approval", "{\"by\": \"Ada\"}", NULL));
}

static void an_approved_order_is_charged(void)
{
    pawl_world *world = world_with_order();

    CHECK_OK(pawl_world_advance(world, "1 hour", NULL));
    CHECK(order_of(world).status == PAWL_WAITING);
    CHECK(pawl_world_step(world, "order", "o-1", "charge") == NULL);
    approve(world);
    CHECK_OK(pawl_world_run_until_idle(world, NULL));

    CHECK(order_of(world).status == PAWL_COMPLETE);
    CHECK(strstr(order_of(world).output_json, "\"sku\":\"teapot\"") != NULL);
    CHECK(strstr(order_of(world).output_json, "Ada") != NULL);
    pawl_world_close(world);
}

static void an_order_that_nobody_approves_fails_after_a_day(void)
{
    pawl_world *world = world_with_order();

    CHECK_OK(pawl_world_run_to_end(world, NULL));

    CHECK(order_of(world).status == PAWL_ERRORED);
    CHECK(strcmp(order_of(world).error_name, "WAIT_FOR_EVENT_TIMEOUT") == 0);
    CHECK(order_of(world).completed_at_ms - order_of(world).created_at_ms == (24 * 60 * 60 + 1) * INT64_C(1000));
    pawl_world_close(world);
}

static void a_bank_that_is_down_is_asked_again(void)
{
    pawl_world *world = world_with_order();
    CHECK_OK(pawl_world_mock_failure(world, "order", "charge", 2, "BankDown", "no answer", true, NULL));
    approve(world);

    CHECK_OK(pawl_world_advance(world, "1 second", NULL)); /* after the cool down it is charged for the first time */
    CHECK(pawl_world_step(world, "order", "o-1", "charge")->attempts == 1);
    CHECK_OK(pawl_world_advance(world, "5 seconds", NULL));
    CHECK(pawl_world_step(world, "order", "o-1", "charge")->attempts == 2);
    CHECK_OK(pawl_world_advance(world, "10 seconds", NULL));

    CHECK(pawl_world_step(world, "order", "o-1", "charge")->attempts == 3);
    CHECK(order_of(world).status == PAWL_COMPLETE);
    pawl_world_close(world);
}

static void an_empty_reservation_is_not_charged(void)
{
    pawl_world *world = world_with_order();
    CHECK_OK(
        pawl_world_mock_result(world, "order", "reserve stock", 0, "{\"sku\": \"teapot\", \"quantity\": 0}", NULL));
    approve(world);

    CHECK_OK(pawl_world_run_to_end(world, NULL));

    CHECK(order_of(world).status == PAWL_ERRORED);
    CHECK(strcmp(order_of(world).error_name, "NothingToCharge") == 0);
    CHECK(pawl_world_step(world, "order", "o-1", "charge")->attempts == 1);
    pawl_world_close(world);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        { "an approved order is charged", an_approved_order_is_charged },
        { "an order that nobody approves fails after a day", an_order_that_nobody_approves_fails_after_a_day },
        { "a bank that is down is asked again", a_bank_that_is_down_is_asked_again },
        { "an empty reservation is not charged", an_empty_reservation_is_not_charged },
    };
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        tests[i].run();
        printf("ok: %s\n", tests[i].name);
    }
    return 0;
}
