/*
 * $title
 *
 * Written by tauform $version; do not edit.
 */
#include "$name.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
/* gcc would gather single results into vectors, which costs more than it saves, and copy many between registers */
#pragma GCC optimize("no-tree-slp-vectorize", "rename-registers")
#endif
$definitions
$functions
