/* Written by tauform ${version}; see ${prefix}_multirate.h. */
#include "${prefix}_multirate.h"

#include <string.h>

#include "${prefix}.h"

#define FRESH 4u

${set_function}void ${prefix}_multirate_start(${prefix}_multirate *m, unsigned every, ${given}${state})
{
${setups}    for (int k = 0; k < 3; ++k) ${prefix}_background(${state_names}, ${background_block}${slot_k});
    m->background = 0u;
    m->synchronous = 1u;
    m->every = every > 0u ? every : 1u;
    m->calls = 0u;
    atomic_init(&m->between, 2u);
}

/* Mass matrix and stored torques, the coefficients only when it is their turn. */
static void compute(${prefix}_multirate *m, ${state}, ${prefix}_results *own)
{
    if (m->every == 1u) {
        ${prefix}_background(${state_names}, ${background_block}${own});
        return;
    }
    if (m->calls == 0u) ${prefix}_coefficients(q, ${coefficients_block}m->M, m->gravity);
    m->calls = (m->calls + 1u) % m->every;
    ${prefix}_velocity(${state_names}, ${velocity_block}${own_rest});
    for (int i = 0; i < ${n}; ++i) own->stored[i] += m->gravity[i];
    memcpy(own->M, m->M, sizeof m->M);
}

void ${prefix}_multirate_renew(${prefix}_multirate *m, ${state})
{
    compute(m, ${state_names}, &m->slot[m->background]);
    m->background = atomic_exchange_explicit(&m->between, m->background | FRESH, memory_order_acq_rel) & ~FRESH;
}

int ${prefix}_multirate_torque(${prefix}_multirate *m, ${motion}, ${real} tau[${n}])
{
    const int fresh = (atomic_load_explicit(&m->between, memory_order_relaxed) & FRESH) != 0;
    if (fresh)
        m->synchronous = atomic_exchange_explicit(&m->between, m->synchronous, memory_order_acq_rel) & ~FRESH;
    ${prefix}_synchronous(${newest}, ${names}, tau);
    return fresh;
}
