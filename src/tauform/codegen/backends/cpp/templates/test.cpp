/* Compares each function with results that were computed before the code was written: make check */
#include "$name.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>

namespace {

template <std::size_t N>
void compare(double &largest, const std::array<$real, N> &found, const double *expected, const double *scale)
{
    for (std::size_t k = 0; k < N; k++) {
        const double error = std::abs(static_cast<double>(found[k]) - expected[k])/scale[k];
        if (!(error <= largest))
            largest = std::isnan(error) ? HUGE_VAL : error;
    }
}

bool report(const char *name, double largest, double tolerance)
{
    const bool good = largest <= tolerance;
    std::printf("%s: largest deviation %.1e, allowed %.1e: %s\n", name, largest, tolerance, good ? "ok" : "FAILED");
    return good;
}

$tests
} // namespace

int main()
{
    bool good = true;
$calls
    return good ? 0 : 1;
}
