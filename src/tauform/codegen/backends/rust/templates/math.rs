/// Functions that `core` lacks; every argument is allowed, and what is not a number stays so.
mod math {
    use super::Real;

    type Bits = $bits;
    const SIGN: Bits = 1 << $sign;
    /// The first $far_bits bits of 2/pi, after 64 zeros.
    const TWO_OVER_PI: [u64; $far_words] = [$far];

    pub fn abs(x: Real) -> Real {
        Real::from_bits(x.to_bits() & !SIGN)
    }

    fn with_sign(magnitude: Real, x: Real) -> Real {
        Real::from_bits(magnitude.to_bits() & !SIGN | x.to_bits() & SIGN)
    }

    pub fn sign(x: Real) -> Real {
        if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            x
        }
    }

    /// Newton's iteration, from half the exponent.
    pub fn sqrt(x: Real) -> Real {
        if x == 0.0 || x == Real::INFINITY {
            return x;
        }
        if !(x > 0.0) {
            return Real::NAN;
        }
        if x < Real::MIN_POSITIVE {
            return sqrt(x * $scale_up) * $scale_down;
        }
        let mut root = Real::from_bits((x.to_bits() >> 1) + ((1.0 as Real).to_bits() >> 1));
        for _ in 0..5 {
            root = 0.5 * (root + x / root);
        }
        root
    }

    pub fn sin(x: Real) -> Real {
        sin_cos(x).0
    }

    pub fn cos(x: Real) -> Real {
        sin_cos(x).1
    }

    /// The angle is reduced by the nearest multiple k of pi/2, whose parts have so few bits that k times the first two is
    /// exact; then one polynomial each on [-pi/4, pi/4].
    #[inline]
    fn sin_cos(x: Real) -> (Real, Real) {
        let rounded = x * $inverse + $magic;
        let k = rounded - $magic;
        let (quarters, r) = if abs(x) <= $limit {
            (rounded.to_bits() as u8, ((x - k * $h1) - k * $h2) - k * $h3)
        } else {
            far(x)
        };
        let u = r * r;
        let s = r + r * u * ($sine);
        let c = 1.0 + u * ($cosine);
        match quarters & 3 {
            0 => (s, c),
            1 => (c, -s),
            2 => (-s, -c),
            _ => (-c, s),
        }
    }

    /// Quarter turns and the rest of a large angle m 2^e (Payne and Hanek): m times those 192 bits of 2/pi that matter,
    /// modulo four turns of a quarter.
    #[cold]
    fn far(x: Real) -> (u8, Real) {
        let bits = f64::from(x).to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        if exponent == 0x7ff {
            return (0, Real::NAN);
        }
        let m = u128::from(bits & 0xf_ffff_ffff_ffff | 0x10_0000_0000_0000);
        // bit e - 2 of 2/pi has the weight two in the product; e = exponent - 1075, and 64 zeros stand before
        let first = exponent - 1013;
        let word = |k: usize| -> u128 {
            let (at, shift) = (first / 64 + k, first % 64);
            let pair = u128::from(TWO_OVER_PI[at]) << 64 | u128::from(TWO_OVER_PI[at + 1]);
            u128::from((pair >> (64 - shift)) as u64)
        };
        let low = m * word(2);
        let middle = m * word(1) + (low >> 64);
        let high = (m * word(0) + (middle >> 64)) as u64;
        let product = u128::from(high) << 64 | u128::from(middle as u64);
        // two bits are the quarter turns, what follows is a signed fraction of one
        let fraction = (product << 2 | u128::from(low as u64 >> 62)) as i128;
        let quarters = (high >> 62) as u8 + u8::from(fraction < 0);
        let r = fraction as f64 * (core::f64::consts::FRAC_PI_2 / 340282366920938463463374607431768211456.0);
        if bits >> 63 == 0 {
            (quarters, r as Real)
        } else {
            (quarters.wrapping_neg(), -r as Real)
        }
    }

    /// 2^k and e^r - 1 with x = k ln 2 + r.
    fn power_and_rest(x: Real) -> (Real, Real) {
        let rounded = x * $exp_inverse + $exp_magic;
        let k = rounded - $exp_magic;
        let r = (x - k * $l1) - k * $l2;
        (Real::from_bits(rounded.to_bits() << $mantissa), r + r * r * ($exponential))
    }

    pub fn exp(x: Real) -> Real {
        if x < $lowest {
            return 0.0;
        }
        if x > $highest {
            return Real::INFINITY;
        }
        let (power, rest) = power_and_rest(x);
        power + power * rest
    }

    /// tanh x = -m / (2 + m) for x > 0, with m = e^(-2x) - 1; odd.
    pub fn tanh(x: Real) -> Real {
        let y = -2.0 * abs(x);
        let (power, rest) = power_and_rest(if y < $saturated { $saturated } else { y });
        let m = power * rest + (power - 1.0);
        with_sign(m / (2.0 + m), x)
    }

    /// Of the smaller side over the larger one: the angle is halved twice, then the series of arctan.
    pub fn atan2(y: Real, x: Real) -> Real {
        let (rise, run) = (abs(y), abs(x));
        let (small, large) = if rise < run { (rise, run) } else { (run, rise) };
        let mut t = if large == 0.0 { 0.0 } else if small == large { 1.0 } else { small / large };
        for _ in 0..2 {
            t /= 1.0 + sqrt(1.0 + t * t);
        }
        let (mut series, mut n) = (0.0, $terms);
        while n > 0.0 {
            n -= 1.0;
            series = 1.0 / (2.0 * n + 1.0) - t * t * series;
        }
        let mut angle = 4.0 * t * series;
        if rise > run {
            angle = $half_pi - angle;
        }
        if x.to_bits() & SIGN != 0 {
            angle = $pi - angle;
        }
        with_sign(angle, y)
    }
}
