/* Stand-in: instead of registering a class, a function that makes one shows that it can be made as its base. */
#pragma once
#include <memory>

#define PLUGINLIB_EXPORT_CLASS(derived, base) \
    namespace plugin_factory { std::shared_ptr<base> make(const base *) { return std::make_shared<derived>(); } }
