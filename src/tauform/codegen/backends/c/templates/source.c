/*
 * $title
 *
 * Written by tauform $version; do not edit.
 */
#include "$name.h"

#include <float.h>
#include <math.h>

#if defined(__GNUC__) && !defined(__clang__)
/* gcc would gather single results into vectors, which costs more than it saves */
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
$definitions
$functions
