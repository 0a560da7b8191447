/* Included before code that calls the functions of doubles, to compute in single precision throughout. */
#include <math.h>
#define sin sinf
#define cos cosf
#define sqrt sqrtf
#define fabs fabsf
