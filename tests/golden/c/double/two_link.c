/*
 * two_link: inverse_dynamics
 *
 * Written by tauform VERSION; do not edit.
 */
#include "two_link.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
/* gcc would gather single results into vectors, which costs more than it saves, and copy many between registers */
#pragma GCC optimize("no-tree-slp-vectorize", "rename-registers")
#endif

#if defined(__GNUC__) || defined(__clang__)
#define INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define RARE __attribute__((noinline, cold))
#else
#define INLINE
#define NOINLINE
#define RARE
#endif

/*
 * Numbers in one vector register; on x86-64 systems that can tell, each call looks whether the processor has AVX2 and
 * fused multiply-add, and runs code compiled for that. TAUFORM_NO_DISPATCH leaves this out.
 */
#if defined(__AVX__)
#define LANES 4
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__aarch64__) || defined(_M_X64)
#define LANES 2
#else
#define LANES 1
#endif

#if defined(__GNUC__) && defined(__AVX2__) && defined(__FMA__)
#define CHOSEN(newer, older) newer
#elif !defined(TAUFORM_NO_DISPATCH) && defined(__GNUC__) && defined(__x86_64__) && defined(__SSE2__) \
    && __STDC_HOSTED__ && !defined(_MSC_VER) \
    && (defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__) || defined(__MINGW64__))
#define DISPATCH
#else
#define CHOSEN(newer, older) older
#endif

#if defined(DISPATCH)
#if defined(__clang__)
#define AVX2 __attribute__((target("avx2,fma")))
#else
#define AVX2 __attribute__((target("avx2,fma"), optimize("fp-contract=fast")))
#endif
#define VARIANTS(name, newer, older, parameters, ...) \
    static NOINLINE AVX2 void name##_avx2 parameters { newer(4, __VA_ARGS__); } \
    static NOINLINE void name##_sse2 parameters { older(LANES, __VA_ARGS__); }
#define RUN(name, newer, older, ...) \
    do { \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) { \
            name##_avx2(__VA_ARGS__); \
        } else { \
            name##_sse2(__VA_ARGS__); \
        } \
    } while (0)
#else
#define AVX2
#define VARIANTS(name, newer, older, parameters, ...)
#define RUN(name, newer, older, ...) CHOSEN(newer, older)(LANES, __VA_ARGS__)
#endif

/* A loop over the lanes becomes vector code only if it is not unrolled before. */
#if defined(__clang__)
#define KEEP_LOOP _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define KEEP_LOOP
#endif

/* Sines and cosines of n angles x + offset by the C library: for angles beyond the reach of the inline reduction. */
static RARE void far_sines_and_cosines(int n, const double *x, const double *offset, double *sine, double *cosine)
{
    int i;
    for (i = 0; i < n; i++) {
        sine[i] = sin(x[i] + offset[i]);
        cosine[i] = cos(x[i] + offset[i]);
    }
}

/*
 * Sines and cosines of n angles x + offset. An angle is reduced by the nearest multiple k of pi/2, whose parts have so
 * few bits that k times the first two is exact; then one polynomial each on [-pi/4, pi/4]. The last bits of the large
 * number that rounds to k say which of the two is the sine, and the signs.
 * A register takes `most` angles. Where n is no multiple, the last vector repeats some angles of the one before.
 */
static INLINE void sines_and_cosines(int most, int n, const double *restrict x, const double *restrict offset,
                                     double *restrict sine, double *restrict cosine)
{
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
    /* reordered arithmetic or excess precision would spoil the reduction */
    (void)most;
    far_sines_and_cosines(n, x, offset, sine, cosine);
#else
    const int lanes = n >= most ? most : n >= most/2 ? most/2 : n >= 2 ? 2 : 1;
    uint64_t beyond = 0u;
    int end;
    int i;
    for (end = lanes; end < n + lanes; end += lanes) {
        const int first = (end < n ? end : n) - lanes;
        KEEP_LOOP
        for (i = first; i < first + lanes; i++) {
            const double a = x[i] + offset[i];
            const double rounded = a*0.6366197723675814 + 6755399441186816.0;
            const double k = rounded - 6755399441186816.0;
            const double b = (a - k*1.5707963267923333) - k*2.5633441515839558e-12;
            const double r = b - k*1.0562999066987428e-23;
            const double u = b*b;
            const double v = u*u;
            const double s = r + b*u*(
                (-0.1666666666666663 + u*0.008333333333321764) + v*(
                (-0.0001984126982922775 + u*2.7557313464816214e-06) + v*(
                -2.505071771107727e-08 + u*1.5894158422302393e-10)));
            const double c = 1.0 + u*(
                (-0.5 + u*0.041666666666666595) + v*(
                (-0.0013888888888873418 + u*2.480158728907706e-05) + v*(
                (-2.755731423385223e-07 + u*2.087570569259304e-09) + v*(
                -1.1358621290718328e-11))));
            uint64_t turn;
            uint64_t y;
            uint64_t z;
            uint64_t exchange;
            (void)memcpy(&turn, &rounded, sizeof turn);
            (void)memcpy(&y, &s, sizeof y);
            (void)memcpy(&z, &c, sizeof z);
            exchange = (y ^ z) & (~(turn & 1u) + 1u);
            y ^= exchange ^ ((turn & 2u) << 62);
            z ^= exchange ^ (((turn + 1u) & 2u) << 62);
            (void)memcpy(&sine[i], &y, sizeof y);
            (void)memcpy(&cosine[i], &z, sizeof z);
            beyond |= turn ^ 0x4338000000020000ull;
        }
    }
    if ((beyond >> 18) != 0u) {
        far_sines_and_cosines(n, x, offset, sine, cosine);
    }
#endif
}

static INLINE void two_link_inverse_dynamics_body(int lanes, const double q[2], const double qd[2], const double qdd[2], double tau[2])
{
    double sine[2];
    double cosine[2];
    static const double offset[2] = {-0.0, -0.0};
    sines_and_cosines(lanes, 2, q, offset, sine, cosine);

    /* tau[0] */
    const double t0 = 1.2*qdd[0] + 9.81*cosine[0];
    const double t1 = 9.81*sine[0];
    const double t2 = 1.2*qd[0];
    const double t3 = sine[1]*t2;
    const double t4 = qd[0] + qd[1];
    const double t5 = sine[1]*t1 + (qd[1]*t3 - cosine[1]*t0);
    const double t6 = qdd[0] + qdd[1];
    const double t7 = 2.0*t3;
    const double t8 = cosine[1]*t2;
    const double t9 = 1.1*t4 + 2.0*t8;
    const double t10 = sine[1]*(t4*t9 - 2.0*(cosine[1]*t1 + (sine[1]*t0 + qd[1]*t8))) - cosine[1]*(1.1*t6 + t4*t7 - 2.0*t5);
    const double t11 = t3*t9 + (0.8074670000000002*t6 - t8*t7) - 1.1*t5;
    const double t12 = t11 + (17.657999999999998*cosine[0] + 1.441200000000001*qdd[0]) - 1.2*t10;

    /* results */
    tau[0] = t12;
    tau[1] = t11;
}

VARIANTS(two_link_inverse_dynamics, two_link_inverse_dynamics_body, two_link_inverse_dynamics_body, (const double q[2], const double qd[2], const double qdd[2], double tau[2]), q, qd, qdd, tau)

void two_link_inverse_dynamics(const double q[2], const double qd[2], const double qdd[2], double tau[2])
{
    RUN(two_link_inverse_dynamics, two_link_inverse_dynamics_body, two_link_inverse_dynamics_body, q, qd, qdd, tau);
}
