/*
 * ${prefix}: inverse dynamics at two rates
 *
 * Written by tauform ${version}. The background task calls ${prefix}_multirate_renew as often as it can; the synchronous
 * task calls ${prefix}_multirate_torque at every tick. Neither ever waits for the other: results pass through three
 * slots, one owned by each side and one in between that is exchanged in a single atomic operation. What positions alone
 * determine (mass matrix, gravity) changes slowest and may be renewed at every so many-th call only (`every`).
 * One background thread and one synchronous thread; needs C11 atomics.
 */
#ifndef ${guard}_MULTIRATE_H
#define ${guard}_MULTIRATE_H

#include <stdatomic.h>
${include}
typedef struct {
    ${real} M[${nn}];
    ${real} stored[${n}];${beside}
} ${prefix}_results;

typedef struct {
    ${prefix}_results slot[3];
    atomic_uint between;  /* slot in between, plus 4 when it holds something new */
    unsigned background;  /* slot of the background task */
    unsigned synchronous; /* slot of the synchronous task */
    unsigned every;       /* coefficients are renewed at every so many-th call */
    unsigned calls;       /* since they were renewed */
    ${real} M[${nn}];
    ${real} gravity[${n}];${blocks}
} ${prefix}_multirate;

/* Before either task starts: results of a first state are in every slot. With every = 1 all is renewed at each call. */
void ${prefix}_multirate_start(${prefix}_multirate *m, unsigned every, ${given}${state});

${set_prototype}/* Background task: compute from a state and publish. */
void ${prefix}_multirate_renew(${prefix}_multirate *m, ${state});

/* Synchronous task: torque from the newest results; returns 1 when they are new since the last call. tau may alias. */
int ${prefix}_multirate_torque(${prefix}_multirate *m, ${motion}, ${real} tau[${n}]);

#endif
