/* e^x; 0 below $lowest, infinite above $highest. */
static INLINE $real exp_of($real x)
{
#if LIBRARY_EXPONENTIAL
    return exp$f(x);
#else
    const $real low = x < $lowest ? $lowest : x; /* what is not a number stays so */
    $real power;
    $real rest;
    power_and_rest(low > $highest ? $highest : low, &power, &rest);
    return x < $lowest ? $zero : x > $highest ? ($real)INFINITY : power + power*rest;
#endif
}
