/*
 * $title
 *
 * Written by tauform $version. SI units; matrices are flat, row by row.
 * No function keeps any state or allocates memory. Outputs may alias inputs.
$conventions */
#ifndef $guard
#define $guard
$includes
#ifdef __cplusplus
extern "C" {
#endif

$declarations
#ifdef __cplusplus
}
#endif

#endif
