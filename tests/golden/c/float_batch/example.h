/*
 * example: every_kind
 *
 * Written by tauform VERSION. SI units; matrices are flat, row by row.
 * No function keeps any state or allocates memory. Outputs may alias inputs.
 */
#ifndef TAUFORM_example_H
#define TAUFORM_example_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    float a;
    float b;
    float c;
} example_p;

/*
 * 11 multiplications, 14 additions, 3 sine-cosine pairs, 1 square roots, 1 exponentials, 1 hyperbolic tangents
 *
 * in  x: 3
 * in  y: 2 x 2
 * in  z: 1
 * in  p: 3
 * out M: 2 x 3
 * out new_y: 1
 */
void example_every_kind(const float x[3], const float y[4], const float z[1], const example_p *p, float M[6], float new_y[1]);

/* The same for count states: entry k of state i stands at [k*count + i]; p as above.
 * An output may be the same array as an input. */
void example_every_kind_batch(size_t count, const float *x, const float *y, const float *z, const example_p *p, float *M, float *new_y);

#ifdef __cplusplus
}
#endif

#endif
