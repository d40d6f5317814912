/* main.c - of test programs that need no other. */
#include "test.h"

int main(void)
{
    return test_run_all();
}
