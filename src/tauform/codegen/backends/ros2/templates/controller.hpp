#ifndef ${guard}__GRAVITY_COMPENSATION_CONTROLLER_HPP_
#define ${guard}__GRAVITY_COMPENSATION_CONTROLLER_HPP_

#include <string>
#include <vector>

#include <controller_interface/controller_interface.hpp>

namespace $name {

/* effort = gravity_scale g(q) + friction_scale f(qd) - damping qd */
class GravityCompensationController : public controller_interface::ControllerInterface
{
public:
    controller_interface::CallbackReturn on_init() override;
    controller_interface::InterfaceConfiguration command_interface_configuration() const override;
    controller_interface::InterfaceConfiguration state_interface_configuration() const override;
    controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State &previous_state) override;
    controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &previous_state) override;
    controller_interface::CallbackReturn on_deactivate(const rclcpp_lifecycle::State &previous_state) override;
    controller_interface::return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) override;

private:
    std::vector<std::string> joints_;
    double gravity_scale_ = 1.0;
    double friction_scale_ = 0.0;
    double damping_ = 0.0;
};

} // namespace $name

#endif
