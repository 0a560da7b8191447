/* Stand-in: a node that holds parameters; a test overrides them before they are declared. */
#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace rclcpp {

class Time
{
};

class Duration
{
};

class Parameter
{
public:
    using Value = std::variant<double, std::vector<std::string>>;
    explicit Parameter(Value value) : value_(std::move(value)) {}
    double as_double() const { return std::get<double>(value_); }
    std::vector<std::string> as_string_array() const { return std::get<std::vector<std::string>>(value_); }

private:
    Value value_;
};

} // namespace rclcpp

namespace rclcpp_lifecycle {

class State
{
};

class LifecycleNode
{
public:
    std::map<std::string, rclcpp::Parameter::Value> parameters;

    int get_logger() const { return 0; }

    rclcpp::Parameter get_parameter(const std::string &name) const { return rclcpp::Parameter(parameters.at(name)); }
};

namespace node_interfaces {

class LifecycleNodeInterface
{
public:
    enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
    virtual ~LifecycleNodeInterface() = default;
    virtual CallbackReturn on_configure(const State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_activate(const State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_deactivate(const State &) { return CallbackReturn::SUCCESS; }
};

} // namespace node_interfaces
} // namespace rclcpp_lifecycle
