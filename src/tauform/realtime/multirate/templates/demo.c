/*
 * Written by tauform ${version}: both tasks of ${prefix} on this machine, POSIX threads, no real-time kernel assumed.
 *
 *   cc -std=c11 -O3 -pthread demo_${prefix}_multirate.c ${prefix}_multirate.c ${prefix}.c -lm -o demo
 *   ./demo [seconds] [synchronous rate, Hz] [background rate, Hz] [runs between renewals of the coefficients]
 *
 * Late ticks are counted, not prevented. The torque error is measured against results of the present state.
 */
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "${prefix}.h"
#include "${prefix}_multirate.h"

enum { N = ${n} };

${given_values}static ${prefix}_multirate tasks;
static atomic_int running = 1;
static atomic_long updates;
static atomic_long now_ns; /* time of the motion, for the background task */
static double background_rate = 50.0;

static void wait_until(const struct timespec *due)
{
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) != 0) {
    }
}

static void advance(struct timespec *t, long ns)
{
    t->tv_nsec += ns;
    t->tv_sec += t->tv_nsec / 1000000000L;
    t->tv_nsec %= 1000000000L;
}

/* A fast motion: joints swing at different frequencies. */
static void motion(double t, ${real} q[N], ${real} qd[N], ${real} qdd[N]${motion_temperature})
{
    for (int i = 0; i < N; ++i) {
        const double w = 4.0 + 0.7 * i, a = 0.4;
        q[i] = (${real})(a * sin(w * t + i));
        qd[i] = (${real})(a * w * cos(w * t + i));
        qdd[i] = (${real})(-a * w * w * sin(w * t + i));${warm}
    }
}

static void *background(void *unused)
{
    struct timespec due;
    ${real} q[N], qd[N], qdd[N]${local_temperature};
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &due);
    while (atomic_load(&running)) {
        motion(1e-9 * (double)atomic_load(&now_ns), q, qd, qdd${pass_temperature});
        ${prefix}_multirate_renew(&tasks, ${state_names});
        atomic_fetch_add(&updates, 1L);
        advance(&due, (long)(1e9 / background_rate));
        wait_until(&due);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 2.0, rate = argc > 2 ? atof(argv[2]) : 1000.0;
    const long period = (long)(1e9 / rate), ticks = (long)(seconds * rate);
    long missed = 0;
    double error = 0.0, size = 0.0, latest = 0.0;
    ${real} q[N], qd[N], qdd[N], tau[N], exact[N], M[N * N], stored[N]${local_beside}${local_temperature};
    struct timespec due, at;
    pthread_t thread;
    const int every = argc > 4 ? atoi(argv[4]) : 1;
    if (argc > 3) background_rate = atof(argv[3]);
    if (!(every > 0 && seconds > 0.0 && rate > 0.0 && background_rate > 0.0)) return 2;

    motion(0.0, q, qd, qdd${pass_temperature});
    ${prefix}_multirate_start(&tasks, (unsigned)every, ${given_names}${state_names});
    if (pthread_create(&thread, NULL, background, NULL) != 0) return 1;
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (long k = 0; k < ticks; ++k) {
        double late;
        wait_until(&due);
        clock_gettime(CLOCK_MONOTONIC, &at);
        late = (double)(at.tv_sec - due.tv_sec) + 1e-9 * (double)(at.tv_nsec - due.tv_nsec);
        if (late > latest) latest = late;
        atomic_store(&now_ns, k * period);
        motion(1e-9 * (double)(k * period), q, qd, qdd${pass_temperature});
        (void)${prefix}_multirate_torque(&tasks, ${names}, tau);
        clock_gettime(CLOCK_MONOTONIC, &at);
        advance(&due, period);
        if (at.tv_sec > due.tv_sec || (at.tv_sec == due.tv_sec && at.tv_nsec > due.tv_nsec)) ++missed;
        ${prefix}_background(${state_names}, ${demo_block}${local});
        ${prefix}_synchronous(${local}, ${names}, exact);
        for (int i = 0; i < N; ++i) {
            error += (double)((tau[i] - exact[i]) * (tau[i] - exact[i]));
            size += (double)(exact[i] * exact[i]);
        }
    }
    atomic_store(&running, 0);
    pthread_join(thread, NULL);
    printf("ticks %ld, updates %ld, missed %ld, latest %.1f us, torque error %.3f %%\n", ticks, atomic_load(&updates),
           missed, 1e6 * latest, 100.0 * sqrt(error / size));
    return 0;
}
