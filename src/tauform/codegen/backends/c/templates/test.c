/*
 * Self-test of $name: states and the results that the generator computed for them.
 *
 * Written by tauform $version; do not edit.
 */
#include "$name.h"

#include <math.h>
#include <stdio.h>

/* Largest deviation of two arrays, relative to the scale of each entry. */
static double deviation(int n, const $real *computed, const double *expected, const double *scale)
{
    double largest = 0.0;
    int i;
    for (i = 0; i < n; i++) {
        const double error = fabs((double)computed[i] - expected[i])/scale[i];
        if (!(error <= largest))
            largest = error;
    }
    return largest;
}

$tests
int main(void)
{
    int failed = 0;
$calls
    printf("$name: %s\n", failed ? "FAILED" : "passed");
    return failed;
}
