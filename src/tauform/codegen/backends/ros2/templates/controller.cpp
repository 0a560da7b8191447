/* Written by tauform $version; do not edit. */
#include "$name/gravity_compensation_controller.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <exception>
#include <limits>
#include <type_traits>

#include <pluginlib/class_list_macros.hpp>
#include <rclcpp/logging.hpp>

#include "$inner.h"

namespace $name {

namespace {

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;

constexpr std::size_t kJoints = $n;
using Vector = std::array<double, kJoints>;

/* Newer distributions return what may be missing, older ones a number. */
template <class Interface>
auto value_of(const Interface &interface, int) -> decltype(interface.get_optional().value_or(0.0))
{
    return interface.get_optional().value_or(std::numeric_limits<double>::quiet_NaN());
}

template <class Interface>
double value_of(const Interface &interface, long)
{
    return interface.get_value();
}

/* Newer distributions say whether the value was taken. */
template <class Interface>
bool is_set(Interface &interface, double value)
{
    if constexpr (std::is_void_v<decltype(interface.set_value(value))>) {
        interface.set_value(value);
        return true;
    } else {
        return interface.set_value(value);
    }
}

InterfaceConfiguration configuration(const std::vector<std::string> &joints, const std::vector<std::string> &kinds)
{
    InterfaceConfiguration wanted{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
    for (const std::string &kind : kinds)
        for (const std::string &joint : joints)
            wanted.names.push_back(joint + "/" + kind);
    return wanted;
}

template <class Interfaces>
bool are_these(const Interfaces &claimed, const std::vector<std::string> &names)
{
    if (claimed.size() != names.size())
        return false;
    for (std::size_t k = 0; k < names.size(); k++)
        if (claimed[k].get_name() != names[k])
            return false;
    return true;
}

} // namespace

CallbackReturn GravityCompensationController::on_init()
{
    try {
        auto_declare<std::vector<std::string>>("joints", {});
        auto_declare<double>("gravity_scale", gravity_scale_);
        auto_declare<double>("friction_scale", friction_scale_);
        auto_declare<double>("damping", damping_);
    } catch (const std::exception &error) {
        RCLCPP_ERROR(get_node()->get_logger(), "parameters: %s", error.what());
        return CallbackReturn::ERROR;
    }
    return CallbackReturn::SUCCESS;
}

InterfaceConfiguration GravityCompensationController::command_interface_configuration() const
{
    return configuration(joints_, {"effort"});
}

InterfaceConfiguration GravityCompensationController::state_interface_configuration() const
{
    return configuration(joints_, {"position", "velocity"});
}

CallbackReturn GravityCompensationController::on_configure(const rclcpp_lifecycle::State &)
{
    joints_ = get_node()->get_parameter("joints").as_string_array();
    gravity_scale_ = get_node()->get_parameter("gravity_scale").as_double();
    friction_scale_ = get_node()->get_parameter("friction_scale").as_double();
    damping_ = get_node()->get_parameter("damping").as_double();
    if (joints_.size() != kJoints) {
        RCLCPP_ERROR(get_node()->get_logger(), "joints: expected %zu names, got %zu", kJoints, joints_.size());
        return CallbackReturn::ERROR;
    }
    if (!(damping_ >= 0.0 && std::isfinite(damping_ + gravity_scale_ + friction_scale_))) {
        RCLCPP_ERROR(get_node()->get_logger(), "gravity_scale, friction_scale, damping: finite, and damping not negative");
        return CallbackReturn::ERROR;
    }
    return CallbackReturn::SUCCESS;
}

CallbackReturn GravityCompensationController::on_activate(const rclcpp_lifecycle::State &)
{
    /* Torques in another order than the joints would move the arm. */
    if (!are_these(command_interfaces_, command_interface_configuration().names) ||
        !are_these(state_interfaces_, state_interface_configuration().names)) {
        RCLCPP_ERROR(get_node()->get_logger(), "interfaces: not those of the joints, in their order");
        return CallbackReturn::ERROR;
    }
    return CallbackReturn::SUCCESS;
}

CallbackReturn GravityCompensationController::on_deactivate(const rclcpp_lifecycle::State &)
{
    bool good = true;
    for (auto &command : command_interfaces_)
        good &= is_set(command, 0.0);
    return good ? CallbackReturn::SUCCESS : CallbackReturn::ERROR;
}

return_type GravityCompensationController::update(const rclcpp::Time &, const rclcpp::Duration &)
{
    Vector positions{}, velocities{}, gravity{}, friction{};
    for (std::size_t k = 0; k < kJoints; k++) {
        positions[k] = value_of(state_interfaces_[k], 0);
        velocities[k] = value_of(state_interfaces_[kJoints + k], 0);
        if (!std::isfinite(positions[k]) || !std::isfinite(velocities[k]))
            return return_type::ERROR;
    }
    ${inner}_gravity_torque(positions.data(), gravity.data());
    $compensated
    bool good = true;
    for (std::size_t k = 0; k < kJoints; k++) {
        const double effort = gravity_scale_*gravity[k] + friction_scale_*friction[k] - damping_*velocities[k];
        good &= is_set(command_interfaces_[k], effort);
    }
    return good ? return_type::OK : return_type::ERROR;
}

} // namespace $name

PLUGINLIB_EXPORT_CLASS($name::GravityCompensationController, controller_interface::ControllerInterface)
