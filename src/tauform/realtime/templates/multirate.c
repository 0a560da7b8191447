/* Written by tauform ${version}; see ${prefix}_multirate.h. */
#include "${prefix}_multirate.h"

#include "${prefix}.h"

#define FRESH 4u

void ${prefix}_multirate_start(${prefix}_multirate *m, const ${real} q[${n}], const ${real} qd[${n}])
{
    for (int k = 0; k < 3; ++k) ${prefix}_background(q, qd, m->slot[k].M, m->slot[k].stored);
    m->background = 0u;
    m->synchronous = 1u;
    atomic_init(&m->between, 2u);
}

void ${prefix}_multirate_renew(${prefix}_multirate *m, const ${real} q[${n}], const ${real} qd[${n}])
{
    ${prefix}_results *own = &m->slot[m->background];
    ${prefix}_background(q, qd, own->M, own->stored);
    m->background = atomic_exchange_explicit(&m->between, m->background | FRESH, memory_order_acq_rel) & ~FRESH;
}

int ${prefix}_multirate_torque(${prefix}_multirate *m, ${motion}, ${real} tau[${n}])
{
    const int fresh = (atomic_load_explicit(&m->between, memory_order_relaxed) & FRESH) != 0;
    if (fresh)
        m->synchronous = atomic_exchange_explicit(&m->between, m->synchronous, memory_order_acq_rel) & ~FRESH;
    ${prefix}_synchronous(m->slot[m->synchronous].M, m->slot[m->synchronous].stored, ${names}, tau);
    return fresh;
}
