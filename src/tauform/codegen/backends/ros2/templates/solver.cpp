/* Written by tauform $version; do not edit. */
#include "$name/solver.hpp"

#include <stdexcept>
#include <string>

#include <pluginlib/class_list_macros.hpp>

#include "$inner.h"

namespace $name {

namespace {

constexpr int kJoints = $n;

void check(const Eigen::VectorXd &vector, const char *name)
{
    if (vector.size() != kJoints)
        throw std::invalid_argument(
            std::string(name) + ": expected " + std::to_string(kJoints) + " entries, got " + std::to_string(vector.size()));
}

Eigen::VectorXd zeros()
{
    return Eigen::VectorXd::Zero(kJoints);
}

} // namespace

void Solver::initialize(
    rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr, const std::string &, const std::string &)
{
}

Eigen::MatrixXd Solver::getInertiaMatrix(const Eigen::VectorXd &joint_positions) const
{
    check(joint_positions, "joint_positions");
    /* It is symmetric: rows stand where Eigen keeps columns. */
    Eigen::MatrixXd inertia = Eigen::MatrixXd::Zero(kJoints, kJoints);
    ${inner}_mass_matrix(joint_positions.data(), inertia.data());
    return inertia;
}

Eigen::VectorXd Solver::getCoriolisVector(
    const Eigen::VectorXd &joint_positions, const Eigen::VectorXd &joint_velocities) const
{
    check(joint_positions, "joint_positions");
    check(joint_velocities, "joint_velocities");
    Eigen::VectorXd torques = zeros();
    ${inner}_velocity_torque(joint_positions.data(), joint_velocities.data(), torques.data());
    return torques;
}

Eigen::VectorXd Solver::getGravityVector(const Eigen::VectorXd &joint_positions) const
{
    check(joint_positions, "joint_positions");
    Eigen::VectorXd torques = zeros();
    ${inner}_gravity_torque(joint_positions.data(), torques.data());
    return torques;
}

Eigen::VectorXd Solver::getFrictionVector(const Eigen::VectorXd &joint_velocities) const
{
    check(joint_velocities, "joint_velocities");
    Eigen::VectorXd torques = zeros();
    $friction
    return torques;
}

} // namespace $name

PLUGINLIB_EXPORT_CLASS($name::Solver, inverse_dynamics_solver::InverseDynamicsSolver)
