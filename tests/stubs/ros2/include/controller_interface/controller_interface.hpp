/* Stand-in: the part of a controller's base class that the generated package uses. */
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hardware_interface/handles.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>

namespace controller_interface {

using CallbackReturn = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;

enum class return_type : std::uint8_t { OK = 0, ERROR = 1 };
enum class interface_configuration_type : std::uint8_t { ALL = 0, INDIVIDUAL = 1, NONE = 2 };

struct InterfaceConfiguration
{
    interface_configuration_type type;
    std::vector<std::string> names = {};
};

class ControllerInterface : public rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface
{
public:
    virtual InterfaceConfiguration command_interface_configuration() const = 0;
    virtual InterfaceConfiguration state_interface_configuration() const = 0;
    virtual CallbackReturn on_init() = 0;
    virtual return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;

    std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() { return node_; }

    void assign_interfaces(
        std::vector<hardware_interface::LoanedCommandInterface> &&commands,
        std::vector<hardware_interface::LoanedStateInterface> &&states)
    {
        command_interfaces_ = std::move(commands);
        state_interfaces_ = std::move(states);
    }

    template <typename T>
    auto auto_declare(const std::string &name, const T &usual)
    {
        return std::get<T>(node_->parameters.emplace(name, usual).first->second);
    }

protected:
    std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
    std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

private:
    std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};

} // namespace controller_interface
