//! Compares each function with results that were computed before the code was written: make check, or cargo test.
#![allow(non_snake_case)]

use $name::Real;

fn compare<const N: usize>(largest: &mut f64, found: &[Real; N], expected: &[f64; N], scale: &[f64; N]) {
    for k in 0..N {
        let error = (f64::from(found[k]) - expected[k]).abs() / scale[k];
        if !(error <= *largest) {
            *largest = if error.is_nan() { f64::INFINITY } else { error };
        }
    }
}

fn report(name: &str, largest: f64, tolerance: f64) {
    println!("{name}: largest deviation {largest:.1e}, allowed {tolerance:.1e}");
    assert!(largest <= tolerance);
}

$tests
