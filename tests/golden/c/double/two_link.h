/*
 * two_link: inverse_dynamics
 *
 * Written by tauform VERSION. SI units; matrices are flat, row by row.
 * No function keeps any state or allocates memory. Outputs may alias inputs.
 */
#ifndef TAUFORM_two_link_H
#define TAUFORM_two_link_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 29 multiplications, 18 additions, 2 sine-cosine pairs
 *
 * in  q: 2
 * in  qd: 2
 * in  qdd: 2
 * out tau: 2
 */
void two_link_inverse_dynamics(const double q[2], const double qd[2], const double qdd[2], double tau[2]);

#ifdef __cplusplus
}
#endif

#endif
