/* tanh x = -m / (2 + m) for x > 0, with m = e^(-2x) - 1; odd. */
static INLINE $real tanh_of($real x)
{
#if LIBRARY_EXPONENTIAL
    return tanh$f(x);
#else
    const $real y = $minus_two*fabs$f(x);
    $real power;
    $real rest;
    $real m;
    power_and_rest(y < $saturated ? $saturated : y, &power, &rest);
    m = power*rest + (power - $one);
    return copysign$f(m / ($two + m), x);
#endif
}
