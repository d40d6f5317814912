/* main.c - main() of test programs that need no own. */
#include "test.h"

int main(void)
{
    return test_run_all();
}
