/*
 * $title
 *
 * Written by tauform $version; do not edit.
 */
#include "$name.h"

#include <float.h>
#include <math.h>
$definitions
$functions
