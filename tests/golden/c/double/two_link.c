/*
 * two_link: inverse_dynamics
 *
 * Written by tauform VERSION; do not edit.
 */
#include "two_link.h"

#include <float.h>
#include <math.h>

#if defined(__GNUC__) && !defined(__clang__)
/* gcc would gather single results into vectors, which costs more than it saves */
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

/*
 * Sines and cosines of n angles x + offset. An angle is reduced by the nearest multiple k of pi/2, whose parts have so
 * few bits that k times the first two is exact; then one polynomial each on [-pi/4, pi/4].
 * Larger angles go to the C library.
 */
static void sines_and_cosines(int n, const double *restrict x, const double *restrict offset, double *restrict sine,
                              double *restrict cosine)
{
    int i;
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
    /* reordered arithmetic or excess precision would spoil the reduction */
    for (i = 0; i < n; i++) {
        sine[i] = sin(x[i] + offset[i]);
        cosine[i] = cos(x[i] + offset[i]);
    }
#else
    int outside = 0;
    for (i = 0; i < n; i++) {
        const double angle = x[i] + offset[i];
        const int inside = fabs(angle) <= 100000.0;
        const double a = inside ? angle : 0.0;
        const double k = (a*0.6366197723675814 + 6755399441055744.0) - 6755399441055744.0;
        const double r = ((a - k*1.5707963267923333) - k*2.5633441515839558e-12) - k*1.0562999066987428e-23;
        const double u = r*r;
        const double s = r + r*u*(-0.1666666666666663 + u*(0.008333333333321764 + u*(-0.0001984126982922775 + u*(
            2.7557313464816214e-06 + u*(-2.505071771107727e-08 + u*(1.5894158422302393e-10))))));
        const double c = 1.0 + u*(-0.5 + u*(
            0.041666666666666595 + u*(-0.0013888888888873418 + u*(2.480158728907706e-05 + u*(
            -2.755731423385223e-07 + u*(2.087570569259304e-09 + u*(-1.1358621290718328e-11)))))));
        const int quadrant = (int)k;
        const double y = (quadrant & 1) ? c : s;
        const double z = (quadrant & 1) ? s : c;
        sine[i] = (quadrant & 2) ? -y : y;
        cosine[i] = ((quadrant + 1) & 2) ? -z : z;
        outside |= !inside;
    }
    if (outside)
        for (i = 0; i < n; i++)
            if (!(fabs(x[i] + offset[i]) <= 100000.0)) {
                sine[i] = sin(x[i] + offset[i]);
                cosine[i] = cos(x[i] + offset[i]);
            }
#endif
}

void two_link_inverse_dynamics(const double q[2], const double qd[2], const double qdd[2], double tau[2])
{
    double sine[2], cosine[2];
    static const double offset[2] = {0.0, 0.0};
    sines_and_cosines(2, q, offset, sine, cosine);

    /* tau[0] */
    const double t0 = 9.81*cosine[0] + 1.2*qdd[0];
    const double t1 = 9.81*sine[0];
    const double t2 = 1.2*qd[0];
    const double t3 = sine[1]*t2;
    const double t4 = sine[1]*t1 - cosine[1]*t0 + qd[1]*t3;
    const double t5 = qdd[0] + qdd[1];
    const double t6 = 2.0*t3;
    const double t7 = qd[0] + qd[1];
    const double t8 = cosine[1]*t2;
    const double t9 = 2.0*t8 + 1.1*t7;
    const double t10 = sine[1]*(t7*t9 - 2.0*(cosine[1]*t1 + sine[1]*t0 + qd[1]*t8)) - cosine[1]*(t7*t6 - (2.0*t4 - 1.1*t5));
    const double t11 = t3*t9 - t8*t6 + (0.8074670000000002*t5 - 1.1*t4);
    const double t12 = 1.441200000000001*qdd[0] + 17.657999999999998*cosine[0] + (t11 - 1.2*t10);

    /* results */
    tau[0] = t12;
    tau[1] = t11;
}
