/*
 * Self-test of $name: states and the results that the generator computed for them.
 * Each function is also called in place, with every input as every output: an output may be the same array.
 *
 * Written by tauform $version; do not edit.
 */
$asked#include "$name.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
$recording
/* The larger of two errors; one that is not a number stays. */
static double larger(double largest, double error)
{
    return error > largest || error != error ? error : largest;
}

/* Largest deviation of an array whose entries stand a stride apart, relative to the scale of each. */
static double deviation(int n, int stride, const $real *computed, const double *expected, const double *scale)
{
    double largest = 0.0;
    int i;
    for (i = 0; i < n; i++)
        largest = larger(largest, fabs((double)computed[i*stride] - expected[i])/scale[i]);
    return largest;
}
$batch_functions
static int report(const char *function, double apart, double in_place, double allowed)
{
    const double largest = larger(apart, in_place);
    printf("%-30s largest deviation %.1e, allowed %.1e\n", function, largest, allowed);
    if (apart <= allowed && !(in_place <= allowed))
        printf("%-30s is wrong where an output is the same array as an input\n", function);
    return !(largest <= allowed);
}

$tests
int main(void)
{
    int failed = 0;
$calls
    printf("$name: %s\n", failed ? "FAILED" : "passed");
    return failed;
}
