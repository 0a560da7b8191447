/* A loop over the lanes becomes vector code only if it is not unrolled before. */
#if defined(__clang__)
#define KEEP_LOOP _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define KEEP_LOOP _Pragma("GCC unroll 1")
#else
#define KEEP_LOOP
#endif

/* Sines and cosines of n angles x + offset by the C library: for angles beyond the reach of the inline reduction. */
static RARE void far_sines_and_cosines(int n, const $real *x, const $real *offset, $real *sine, $real *cosine)
{
    int i;
    for (i = 0; i < n; i++) {
        sine[i] = sin$f(x[i] + offset[i]);
        cosine[i] = cos$f(x[i] + offset[i]);
    }
}

/*
 * Sines and cosines of n angles x + offset. An angle is reduced by the nearest multiple k of pi/2, whose parts have so
 * few bits that k times the first two is exact; then one polynomial each on [-pi/4, pi/4]. The last bits of the large
 * number that rounds to k say which of the two is the sine, and the signs.
 * A register takes `most` angles. Where n is no multiple, the last vector repeats some angles of the one before.
 */
static INLINE void sines_and_cosines(int most, int n, const $real *restrict x, const $real *restrict offset,
                                     $real *restrict sine, $real *restrict cosine)
{
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
    /* reordered arithmetic or excess precision would spoil the reduction */
    (void)most;
    far_sines_and_cosines(n, x, offset, sine, cosine);
#else
    const int lanes = n >= most ? most : n >= most/2 ? most/2 : n >= 2 ? 2 : 1;
    $bits beyond = 0u;
    int end;
    int i;
    for (end = lanes; end < n + lanes; end += lanes) {
        const int first = (end < n ? end : n) - lanes;
        KEEP_LOOP
        for (i = first; i < first + lanes; i++) {
            const $real a = x[i] + offset[i];
            const $real rounded = a*$inverse + $magic;
            const $real k = rounded - $magic;
            const $real b = (a - k*$h1) - k*$h2;
            const $real r = b - k*$h3;
            const $real u = $argument*$argument;
            const $real v = u*u;
            const $real s = r + $argument*u*(
                $sine);
            const $real c = $one + u*(
                $cosine);
            $bits turn;
            $bits y;
            $bits z;
            $bits exchange;
            (void)memcpy(&turn, &rounded, sizeof turn);
            (void)memcpy(&y, &s, sizeof y);
            (void)memcpy(&z, &c, sizeof z);
            exchange = (y ^ z) & (~(turn & 1u) + 1u);
            y ^= exchange ^ ((turn & 2u) << $sign);
            z ^= exchange ^ (((turn + 1u) & 2u) << $sign);
            (void)memcpy(&sine[i], &y, sizeof y);
            (void)memcpy(&cosine[i], &z, sizeof z);
            beyond |= turn ^ $turn_of_zero;
        }
    }
    if ((beyond >> $reach) != 0u) {
        far_sines_and_cosines(n, x, offset, sine, cosine);
    }
#endif
}
