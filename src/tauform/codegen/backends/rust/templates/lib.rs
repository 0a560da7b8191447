//! $functions_named; written by tauform $version.
//!
//! SI units; matrices are flat, row by row. Needs `core` alone: no allocation, no state, no unsafe code.
#![no_std]
#![forbid(unsafe_code)]
#![allow(dead_code, non_snake_case, unused_parens, unused_variables)]
#![allow(clippy::all)]

/// The number type of all functions.
pub type Real = $real;

$math
$functions