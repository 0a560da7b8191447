/*
 * $title
 *
 * Written by tauform $version; C++17 without dependencies. SI units; matrices are flat, row by row.
 * Functions are templates over the number type: float, double, or a type that brings its own operators and functions, as
 * those of automatic differentiation do. They keep no state and allocate nothing. Outputs may alias inputs.
$conventions */
#ifndef TAUFORM_${name}_HPP
#define TAUFORM_${name}_HPP

#include <array>
#include <cmath>

namespace ${name}_dynamics {

namespace detail {

/* Zero and what is not a number stay what they are. */
template <class Real>
Real sign(const Real &x)
{
    return x > Real(0) ? Real(1) : x < Real(0) ? Real(-1) : x;
}

} // namespace detail

$functions
} // namespace ${name}_dynamics

#endif
