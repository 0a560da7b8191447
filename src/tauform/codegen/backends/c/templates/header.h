/*
 * $title
 *
 * Written by tauform $version. SI units; matrices are flat, row by row.
 * No function keeps any state, allocates memory, or minds if an output is the same array as an input.
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
