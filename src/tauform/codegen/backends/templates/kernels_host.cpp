/* The kernels on this processor, one work item after the other, for make check. */
#include <cmath>
#include <cstddef>

namespace {
std::size_t work_item;
}

using std::atan2;
using std::cos;
using std::exp;
using std::fabs;
using std::sin;
using std::sqrt;
using std::tanh;
$stand_ins
#include "$name.$suffix"

#define HOST(name, ...) \
    extern "C" void host_##name(Real **a, std::size_t count) \
    { \
        for (work_item = 0; work_item < count; work_item++) \
            name(__VA_ARGS__, count); \
    }

$calls
