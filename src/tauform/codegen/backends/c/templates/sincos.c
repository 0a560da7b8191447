/*
 * Sines and cosines of n angles x + offset. An angle is reduced by the nearest multiple k of pi/2, whose parts have so
 * few bits that k times the first two is exact; then one polynomial each on [-pi/4, pi/4]. m is k modulo 4, from -2 to 2.
 * Larger angles go to the C library.
 */
static void sines_and_cosines(int n, const $real *restrict x, const $real *restrict offset, $real *restrict sine,
                              $real *restrict cosine)
{
    int i;
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
    /* reordered arithmetic or excess precision would spoil the reduction */
    for (i = 0; i < n; i++) {
        sine[i] = sin$f(x[i] + offset[i]);
        cosine[i] = cos$f(x[i] + offset[i]);
    }
#else
    int outside = 0;
    for (i = 0; i < n; i++)
        outside |= !(fabs$f(x[i] + offset[i]) <= $limit);
    for (i = 0; i < n; i++) {
        const $real angle = x[i] + offset[i];
        const $real k = (angle*$inverse + $magic) - $magic;
        const $real m = k - $four*((k*$quarter + $magic) - $magic);
        const $real r = ((angle - k*$h1) - k*$h2) - k*$h3;
        const $real u = r*r;
        const $real s = r + r*u*($sine);
        const $real c = $one + u*($cosine);
        const int odd = m == $one || m == -$one;
        const $real y = odd ? c : s;
        const $real z = odd ? s : c;
        sine[i] = m < -$half || m > $one ? -y : y;
        cosine[i] = m < -$one || m > $half ? -z : z;
    }
    if (outside)
        for (i = 0; i < n; i++)
            if (!(fabs$f(x[i] + offset[i]) <= $limit)) {
                sine[i] = sin$f(x[i] + offset[i]);
                cosine[i] = cos$f(x[i] + offset[i]);
            }
#endif
}
