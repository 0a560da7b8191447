/* Stand-in: interfaces to a number, as older (OLD_HANDLES) and newer distributions declare them. */
#pragma once
#include <optional>
#include <string>

namespace hardware_interface {

class LoanedStateInterface
{
public:
    LoanedStateInterface(std::string name, double *value) : name_(std::move(name)), value_(value) {}
    const std::string &get_name() const { return name_; }
#ifdef OLD_HANDLES
    double get_value() const { return *value_; }
#else
    template <typename T = double>
    [[nodiscard]] std::optional<T> get_optional(unsigned int = 10) const { return *value_; }
#endif

private:
    std::string name_;
    double *value_;
};

class LoanedCommandInterface
{
public:
    LoanedCommandInterface(std::string name, double *value) : name_(std::move(name)), value_(value) {}
    const std::string &get_name() const { return name_; }
#ifdef OLD_HANDLES
    void set_value(double value) { *value_ = value; }
#else
    template <typename T>
    [[nodiscard]] bool set_value(const T &value, unsigned int = 10)
    {
        *value_ = value;
        return true;
    }
#endif

private:
    std::string name_;
    double *value_;
};

} // namespace hardware_interface
