/*
 * example: every_kind
 *
 * Written by tauform VERSION; do not edit.
 */
#include "example.h"

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
#define LANES 8
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__aarch64__) || defined(_M_X64)
#define LANES 4
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
    static NOINLINE AVX2 void name##_avx2 parameters { newer(8, __VA_ARGS__); } \
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

#define BLOCK 32 /* states that a batch function works on at once */

/* A loop over the lanes becomes vector code only if it is not unrolled before. */
#if defined(__clang__)
#define KEEP_LOOP _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define KEEP_LOOP
#endif

/* Sines and cosines of n angles x + offset by the C library: for angles beyond the reach of the inline reduction. */
static RARE void far_sines_and_cosines(int n, const float *x, const float *offset, float *sine, float *cosine)
{
    int i;
    for (i = 0; i < n; i++) {
        sine[i] = sinf(x[i] + offset[i]);
        cosine[i] = cosf(x[i] + offset[i]);
    }
}

/*
 * Sines and cosines of n angles x + offset. An angle is reduced by the nearest multiple k of pi/2, whose parts have so
 * few bits that k times the first two is exact; then one polynomial each on [-pi/4, pi/4]. The last bits of the large
 * number that rounds to k say which of the two is the sine, and the signs.
 * A register takes `most` angles. Where n is no multiple, the last vector repeats some angles of the one before.
 */
static INLINE void sines_and_cosines(int most, int n, const float *restrict x, const float *restrict offset,
                                     float *restrict sine, float *restrict cosine)
{
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
    /* reordered arithmetic or excess precision would spoil the reduction */
    (void)most;
    far_sines_and_cosines(n, x, offset, sine, cosine);
#else
    const int lanes = n >= most ? most : n >= most/2 ? most/2 : n >= 2 ? 2 : 1;
    uint32_t beyond = 0u;
    int end;
    int i;
    for (end = lanes; end < n + lanes; end += lanes) {
        const int first = (end < n ? end : n) - lanes;
        KEEP_LOOP
        for (i = first; i < first + lanes; i++) {
            const float a = x[i] + offset[i];
            const float rounded = a*0.63661975f + 12591104.0f;
            const float k = rounded - 12591104.0f;
            const float b = (a - k*1.5703125f) - k*0.0004837513f;
            const float r = b - k*7.54979e-08f;
            const float u = r*r;
            const float v = u*u;
            const float s = r + r*u*(
                (-0.16666655f + u*0.008332197f) + v*(
                -0.00019517973f));
            const float c = 1.0f + u*(
                (-0.5f + u*0.041666646f) + v*(
                -0.0013887308f + u*2.443163e-05f));
            uint32_t turn;
            uint32_t y;
            uint32_t z;
            uint32_t exchange;
            (void)memcpy(&turn, &rounded, sizeof turn);
            (void)memcpy(&y, &s, sizeof y);
            (void)memcpy(&z, &c, sizeof z);
            exchange = (y ^ z) & (~(turn & 1u) + 1u);
            y ^= exchange ^ ((turn & 2u) << 30);
            z ^= exchange ^ (((turn + 1u) & 2u) << 30);
            (void)memcpy(&sine[i], &y, sizeof y);
            (void)memcpy(&cosine[i], &z, sizeof z);
            beyond |= turn ^ 0x4b402000u;
        }
    }
    if ((beyond >> 14) != 0u) {
        far_sines_and_cosines(n, x, offset, sine, cosine);
    }
#endif
}

/*
 * 1, -1, or the number itself where it is zero or not a number: from its bits, so that no branch depends on it.
 * Without its sign it is a size: zero is the least, and what is above infinity is not a number.
 */
static INLINE float sign_of(float x)
{
    uint32_t b;
    uint32_t size;
    uint32_t some; /* 1 unless zero */
    uint32_t none; /* 1 where not a number */
    uint32_t sign;
    float s;
    (void)memcpy(&b, &x, sizeof b);
    size = b & 0x7fffffffu;
    some = (size + 0x7fffffffu) >> 31;
    none = (0x7f800000u - size) >> 31;
    sign = (b & ~0x7fffffffu) | (0x3f800000u & (~some + 1u)) | (b & (~none + 1u));
    (void)memcpy(&s, &sign, sizeof s);
    return s;
}

/* Reordered arithmetic or excess precision would spoil the reduction below: there the C library serves. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#define LIBRARY_EXPONENTIAL 1
#else
#define LIBRARY_EXPONENTIAL 0
#endif

#if !LIBRARY_EXPONENTIAL
/*
 * 2^k and e^r - 1 with x = k ln 2 + r: ln 2 is split so that k times its first part is exact, the last bits of the large
 * number that rounds to k are the biased exponent of 2^k, and a polynomial serves |r| <= ln(2)/2.
 */
static INLINE void power_and_rest(float x, float *power, float *rest)
{
    const float rounded = x*1.442695f + 12583039.0f;
    const float k = rounded - 12583039.0f;
    const float r = (x - k*0.69314575f) - k*1.4286068e-06f;
    uint32_t exponent;
    (void)memcpy(&exponent, &rounded, sizeof exponent);
    exponent <<= 23;
    (void)memcpy(power, &exponent, sizeof exponent);
    *rest = r + r*r*(0.5f
        + r*(0.16666667f
        + r*(0.041666463f
        + r*(0.0083333105f
        + r*(0.0013933686f
        + r*(0.0001989103f))))));
}
#endif

/* e^x; 0 below -87.0f, infinite above 88.0f. */
static INLINE float exp_of(float x)
{
#if LIBRARY_EXPONENTIAL
    return expf(x);
#else
    const float low = x < -87.0f ? -87.0f : x; /* what is not a number stays so */
    float power;
    float rest;
    power_and_rest(low > 88.0f ? 88.0f : low, &power, &rest);
    return x < -87.0f ? 0.0f : x > 88.0f ? (float)INFINITY : power + power*rest;
#endif
}

/* tanh x = -m / (2 + m) for x > 0, with m = e^(-2x) - 1; odd. */
static INLINE float tanh_of(float x)
{
#if LIBRARY_EXPONENTIAL
    return tanhf(x);
#else
    const float y = -2.0f*fabsf(x);
    float power;
    float rest;
    float m;
    power_and_rest(y < -20.0f ? -20.0f : y, &power, &rest);
    m = power*rest + (power - 1.0f);
    return copysignf(m / (2.0f + m), x);
#endif
}

static INLINE void example_every_kind_body(int lanes, const float x[3], const float y[4], const float z[1], const example_p *p, float M[6], float new_y[1])
{
    float sine[3];
    float cosine[3];
    const float t0 = y[1]*(1.0f/(x[1]*x[1] + 2.0f)) + x[0]*p->a;
    const float angle[2] = {t0 + z[0], x[2]};
    static const float offset[2] = {-0.0f, -0.0f};
    sines_and_cosines(lanes, 2, angle, offset, sine, cosine);
    const float angle_2[1] = {p->b*sine[0] + cosine[1]};
    static const float offset_2[1] = {-0.0f};
    sines_and_cosines(lanes, 1, angle_2, offset_2, &sine[2], &cosine[2]);

    /* M[4] */
    const float t1 = p->c*sqrtf(1.0f + x[0]*x[0]);

    /* M[5] */
    const float t2 = y[3]*sign_of(x[1]);

    /* new_y[0] */
    const float t3 = y[0]*y[2]*tanh_of(3.0f*x[1]) + (t0 - t2 - t0 - t1 - exp_of(-fabsf(y[0])));

    /* results */
    M[0] = t0;
    M[1] = sine[2];
    M[2] = -t0;
    M[3] = sine[2];
    M[4] = t1;
    M[5] = t2;
    new_y[0] = t3 - sine[2] - sine[2];
}

VARIANTS(example_every_kind, example_every_kind_body, example_every_kind_body, (const float x[3], const float y[4], const float z[1], const example_p *p, float M[6], float new_y[1]), x, y, z, p, M, new_y)

void example_every_kind(const float x[3], const float y[4], const float z[1], const example_p *p, float M[6], float new_y[1])
{
    RUN(example_every_kind, example_every_kind_body, example_every_kind_body, x, y, z, p, M, new_y);
}

static INLINE void example_every_kind_block_0_body(int lanes, float x[restrict][BLOCK], float y[restrict][BLOCK], float z[restrict][BLOCK], const example_p *p, float w[restrict][BLOCK])
{
    int l;
    float angle[2][BLOCK];
    float sine[2][BLOCK];
    float cosine[2][BLOCK];
    static const float offset[2*BLOCK] = {0};
    for (l = 0; l < BLOCK; l++) {
        const float t0 = y[1][l]*(1.0f/(x[1][l]*x[1][l] + 2.0f)) + x[0][l]*p->a;
        angle[0][l] = t0 + z[0][l];
        angle[1][l] = x[2][l];
        w[0][l] = t0;
    }
    sines_and_cosines(lanes, 2*BLOCK, &angle[0][0], offset, &sine[0][0], &cosine[0][0]);
    for (l = 0; l < BLOCK; l++) {
        w[1][l] = sine[0][l];
        w[2][l] = cosine[1][l];
    }
}

VARIANTS(example_every_kind_block_0, example_every_kind_block_0_body, example_every_kind_block_0_body, (float x[restrict][BLOCK], float y[restrict][BLOCK], float z[restrict][BLOCK], const example_p *p, float w[restrict][BLOCK]), x, y, z, p, w)

static NOINLINE void example_every_kind_block_0(float x[restrict][BLOCK], float y[restrict][BLOCK], float z[restrict][BLOCK], const example_p *p, float w[restrict][BLOCK])
{
    RUN(example_every_kind_block_0, example_every_kind_block_0_body, example_every_kind_block_0_body, x, y, z, p, w);
}

static INLINE void example_every_kind_block_1_body(int lanes, const example_p *p, float w[restrict][BLOCK])
{
    int l;
    float angle[1][BLOCK];
    float sine[1][BLOCK];
    float cosine[1][BLOCK];
    static const float offset[BLOCK] = {0};
    for (l = 0; l < BLOCK; l++) {
        angle[0][l] = p->b*w[1][l] + w[2][l];
    }
    sines_and_cosines(lanes, BLOCK, &angle[0][0], offset, &sine[0][0], &cosine[0][0]);
    for (l = 0; l < BLOCK; l++) {
        w[3][l] = sine[0][l];
    }
}

VARIANTS(example_every_kind_block_1, example_every_kind_block_1_body, example_every_kind_block_1_body, (const example_p *p, float w[restrict][BLOCK]), p, w)

static NOINLINE void example_every_kind_block_1(const example_p *p, float w[restrict][BLOCK])
{
    RUN(example_every_kind_block_1, example_every_kind_block_1_body, example_every_kind_block_1_body, p, w);
}

static INLINE void example_every_kind_block_2_body(int lanes, float x[restrict][BLOCK], float y[restrict][BLOCK], const example_p *p, float w[restrict][BLOCK])
{
    (void)lanes;
    int l;
    for (l = 0; l < BLOCK; l++) {

        /* M[4] */
        const float t0 = p->c*sqrtf(1.0f + x[0][l]*x[0][l]);

        /* M[5] */
        const float t1 = y[3][l]*sign_of(x[1][l]);

        /* new_y[0] */
        const float t2 = y[0][l]*y[2][l]*tanh_of(3.0f*x[1][l]) + (w[0][l] - t1 - w[0][l] - t0 - exp_of(-fabsf(y[0][l])));
        const float t3 = t2 - w[3][l] - w[3][l];

        /* M[2] */
        const float t4 = -w[0][l];
        w[2][l] = t0;
        w[1][l] = t1;
        w[4][l] = t3;
        w[5][l] = t4;
    }
}

VARIANTS(example_every_kind_block_2, example_every_kind_block_2_body, example_every_kind_block_2_body, (float x[restrict][BLOCK], float y[restrict][BLOCK], const example_p *p, float w[restrict][BLOCK]), x, y, p, w)

static NOINLINE void example_every_kind_block_2(float x[restrict][BLOCK], float y[restrict][BLOCK], const example_p *p, float w[restrict][BLOCK])
{
    RUN(example_every_kind_block_2, example_every_kind_block_2_body, example_every_kind_block_2_body, x, y, p, w);
}

static INLINE void example_every_kind_block_3_body(int lanes, float M[restrict][BLOCK], float new_y[restrict][BLOCK], float w[restrict][BLOCK])
{
    (void)lanes;
    int l;
    for (l = 0; l < BLOCK; l++) {
        M[0][l] = w[0][l];
        M[1][l] = w[3][l];
        M[2][l] = w[5][l];
        M[3][l] = w[3][l];
        M[4][l] = w[2][l];
        M[5][l] = w[1][l];
        new_y[0][l] = w[4][l];
    }
}

VARIANTS(example_every_kind_block_3, example_every_kind_block_3_body, example_every_kind_block_3_body, (float M[restrict][BLOCK], float new_y[restrict][BLOCK], float w[restrict][BLOCK]), M, new_y, w)

static NOINLINE void example_every_kind_block_3(float M[restrict][BLOCK], float new_y[restrict][BLOCK], float w[restrict][BLOCK])
{
    RUN(example_every_kind_block_3, example_every_kind_block_3_body, example_every_kind_block_3_body, M, new_y, w);
}

void example_every_kind_batch(size_t count, const float *x, const float *y, const float *z, const example_p *p, float *M, float *new_y)
{
    size_t i;
    size_t k;
    size_t l;
    float x_block[3][BLOCK];
    float y_block[4][BLOCK];
    float z_block[1][BLOCK];
    float M_block[6][BLOCK];
    float new_y_block[1][BLOCK];
    example_p p_copy;
    float w[6][BLOCK];

    (void)memcpy(&p_copy, p, sizeof p_copy);
    for (i = 0; i < count; i += (size_t)BLOCK) {
        const size_t n = count - i < (size_t)BLOCK ? count - i : (size_t)BLOCK;
        for (k = 0; k < 3u; k++) {
            for (l = 0; l < n; l++) {
                x_block[k][l] = x[k*count + i + l];
            }
            for (; l < (size_t)BLOCK; l++) {
                x_block[k][l] = x_block[k][n - 1u];
            }
        }
        for (k = 0; k < 4u; k++) {
            for (l = 0; l < n; l++) {
                y_block[k][l] = y[k*count + i + l];
            }
            for (; l < (size_t)BLOCK; l++) {
                y_block[k][l] = y_block[k][n - 1u];
            }
        }
        for (k = 0; k < 1u; k++) {
            for (l = 0; l < n; l++) {
                z_block[k][l] = z[k*count + i + l];
            }
            for (; l < (size_t)BLOCK; l++) {
                z_block[k][l] = z_block[k][n - 1u];
            }
        }
        example_every_kind_block_0(x_block, y_block, z_block, &p_copy, w);
        example_every_kind_block_1(&p_copy, w);
        example_every_kind_block_2(x_block, y_block, &p_copy, w);
        example_every_kind_block_3(M_block, new_y_block, w);
        for (k = 0; k < 6u; k++) {
            for (l = 0; l < n; l++) {
                M[k*count + i + l] = M_block[k][l];
            }
        }
        for (k = 0; k < 1u; k++) {
            for (l = 0; l < n; l++) {
                new_y[k*count + i + l] = new_y_block[k][l];
            }
        }
    }
}
