/*
 * Sines and cosines of n angles x + offset. An angle is reduced by the nearest multiple k of pi/2, whose parts have so
 * few bits that k times the first two is exact; then one polynomial each on [-pi/4, pi/4].
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
    for (i = 0; i < n; i++) {
        const $real angle = x[i] + offset[i];
        const int inside = fabs$f(angle) <= $limit;
        const $real a = inside ? angle : $zero;
        const $real k = (a*$inverse + $magic) - $magic;
        const $real r = ((a - k*$h1) - k*$h2) - k*$h3;
        const $real u = r*r;
        const $real s = r + r*u*($sine);
        const $real c = $one + u*($cosine);
        const int quadrant = (int)k;
        const $real y = (quadrant & 1) ? c : s;
        const $real z = (quadrant & 1) ? s : c;
        sine[i] = (quadrant & 2) ? -y : y;
        cosine[i] = ((quadrant + 1) & 2) ? -z : z;
        outside |= !inside;
    }
    if (outside)
        for (i = 0; i < n; i++)
            if (!(fabs$f(x[i] + offset[i]) <= $limit)) {
                sine[i] = sin$f(x[i] + offset[i]);
                cosine[i] = cos$f(x[i] + offset[i]);
            }
#endif
}
