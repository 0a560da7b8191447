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
static INLINE void power_and_rest($real x, $real *power, $real *rest)
{
    const $real rounded = x*$inverse + $magic;
    const $real k = rounded - $magic;
    const $real r = (x - k*$l1) - k*$l2;
    $bits exponent;
    (void)memcpy(&exponent, &rounded, sizeof exponent);
    exponent <<= $mantissa;
    (void)memcpy(power, &exponent, sizeof exponent);
    *rest = r + r*r*($polynomial);
}
#endif
