/*
 * Self-test of two_link: states and the results that the generator computed for them.
 * Each function is also called in place, with every input as every output: an output may be the same array.
 *
 * Written by tauform VERSION; do not edit.
 */
#include "two_link.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The larger of two errors; one that is not a number stays. */
static double larger(double largest, double error)
{
    return error > largest || error != error ? error : largest;
}

/* Largest deviation of an array whose entries stand a stride apart, relative to the scale of each. */
static double deviation(int n, int stride, const double *computed, const double *expected, const double *scale)
{
    double largest = 0.0;
    int i;
    for (i = 0; i < n; i++)
        largest = larger(largest, fabs((double)computed[i*stride] - expected[i])/scale[i]);
    return largest;
}

static int report(const char *function, double apart, double in_place, double allowed)
{
    const double largest = larger(apart, in_place);
    printf("%-30s largest deviation %.1e, allowed %.1e\n", function, largest, allowed);
    if (apart <= allowed && !(in_place <= allowed))
        printf("%-30s is wrong where an output is the same array as an input\n", function);
    return !(largest <= allowed);
}

static int test_inverse_dynamics(void)
{
    static const double q[8][2] = {
        {0.8217701239287258, -1.3812797174167781},
        {-2.7541588563828316, -2.9008341868288254},
        {1.879621435201635, 2.47653346366633},
        {0.6398146546030792, 1.3769793659039902},
        {0.261749948792537, 2.610434542726609},
        {1.8951213247291925, -2.9835689989791114},
        {2.1444256595254156, -2.798486548167214},
        {1.3779326785796648, -1.946066276384646},
    };
    static const double qd[8][2] = {
        {2.1790735340993193, 0.24876732149455005},
        {-1.2017286567756913, -0.4638766728140493},
        {-2.830081973127222, -2.254300341002616},
        {1.0237464881617822, 0.8831370694455005},
        {0.6923106688875231, -0.6979346744286996},
        {2.9832596147352657, 2.8850120326573805},
        {1.1132519068841678, 0.9027556576068978},
        {1.1306803834256405, -0.6664714561253771},
    };
    static const double qdd[8][2] = {
        {-2.189420969865533, 1.3289300411644902},
        {0.15212593485435555, -1.138548746646266},
        {-0.08498784700926532, 2.336927006094001},
        {2.604261095737498, -0.8532288197455786},
        {0.4291789843785656, -1.0687836535443471},
        {0.5658001811981808, -0.9725326469572004},
        {-0.6502859968310326, 2.341646112028754},
        {-1.6370544387997217, 0.7391228681162545},
    };
    static const double tau_expected[8][2] = {
        {27.772592743235087, 1.7506706929895692},
        {-28.06826951180293, 7.284852750635544},
        {-31.619289921694133, 4.667574504737798},
        {38.8200568203849, -1.2212471874355342},
        {31.294896033331682, -11.086208488894378},
        {-0.9105117959674505, 2.090840534498702},
        {-15.279668853933913, 10.187668988062551},
        {9.114919275062485, 7.5926809141228215},
    };
    static const double tau_scale[2] = {38.8200568203849, 11.086208488894378};
    static double tau_computed[2];
    static double both[2];
    double apart = 0.0, in_place = 0.0;
    int i;
    for (i = 0; i < 8; i++) {
        two_link_inverse_dynamics(q[i], qd[i], qdd[i], tau_computed);
        apart = larger(apart, deviation(2, 1, tau_computed, tau_expected[i], tau_scale));
        memcpy(both, q[i], 2*sizeof both[0]);
        two_link_inverse_dynamics(both, qd[i], qdd[i], both);
        in_place = larger(in_place, deviation(2, 1, both, tau_expected[i], tau_scale));
        memcpy(both, qd[i], 2*sizeof both[0]);
        two_link_inverse_dynamics(q[i], both, qdd[i], both);
        in_place = larger(in_place, deviation(2, 1, both, tau_expected[i], tau_scale));
        memcpy(both, qdd[i], 2*sizeof both[0]);
        two_link_inverse_dynamics(q[i], qd[i], both, both);
        in_place = larger(in_place, deviation(2, 1, both, tau_expected[i], tau_scale));
    }
    return report("inverse_dynamics", apart, in_place, 1e-13);
}

int main(void)
{
    int failed = 0;
    failed |= test_inverse_dynamics();
    printf("two_link: %s\n", failed ? "FAILED" : "passed");
    return failed;
}
