/* What the C here needs of math.h: instructions of WebAssembly, and Math of JavaScript for the rest. */
#ifndef TAUFORM_MATH_H
#define TAUFORM_MATH_H

#define INFINITY __builtin_inff()
#define HUGE_VAL __builtin_huge_val()
#define sqrt __builtin_sqrt
#define sqrtf __builtin_sqrtf
#define fabs __builtin_fabs
#define fabsf __builtin_fabsf
#define copysign __builtin_copysign
#define copysignf __builtin_copysignf

double sin(double x);
double cos(double x);
double atan2(double y, double x);
float sinf(float x);
float cosf(float x);
float atan2f(float y, float x);

#endif
