/* Stand-in: errors go to stderr. */
#pragma once
#include <cstdio>

#define RCLCPP_ERROR(logger, ...) (static_cast<void>(logger), std::fprintf(stderr, __VA_ARGS__), std::fputs("\n", stderr))
