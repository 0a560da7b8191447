/* A control loop at 1 kHz around generated code. Prints, a cycle: seconds taken, then the seven torques. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lbr7.h"

enum { JOINTS = 7, PERIOD_NS = 1000000 };

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

static void reference(double t, double q[JOINTS], double qd[JOINTS], double qdd[JOINTS])
{
    for (int j = 0; j < JOINTS; ++j) {
        const double w = 4.0 * (1.0 + 0.25 * j);
        q[j] = sin(w * t);
        qd[j] = w * cos(w * t);
        qdd[j] = -w * w * sin(w * t);
    }
}

int main(int argc, char **argv)
{
    const int cycles = argc > 1 ? atoi(argv[1]) : 1000;
    struct timespec next, before, after;
    double q[JOINTS], qd[JOINTS], qdd[JOINTS], tau[JOINTS];

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int k = 0; k < cycles; ++k) {
        reference(1e-3 * k, q, qd, qdd);

        clock_gettime(CLOCK_MONOTONIC, &before);
        lbr7_inverse_dynamics(q, qd, qdd, tau); /* no state, no allocation, no branch on the data */
        clock_gettime(CLOCK_MONOTONIC, &after);

        printf("%.9f", seconds_between(&before, &after));
        for (int j = 0; j < JOINTS; ++j)
            printf(" %.17g", tau[j]);
        putchar('\n');

        next.tv_nsec += PERIOD_NS;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            ++next.tv_sec;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return 0;
}
