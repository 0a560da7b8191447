#ifndef ${guard}__SOLVER_HPP_
#define ${guard}__SOLVER_HPP_

#include <string>

#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>

namespace $name {

/* Dynamics of one robot, whose numbers are in the code. Thread-safe: no function keeps any state. */
class Solver : public inverse_dynamics_solver::InverseDynamicsSolver
{
public:
    void initialize(
        rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters_interface = nullptr,
        const std::string &param_namespace = "", const std::string &robot_description = "") override;

    Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd &joint_positions) const override;

    /* C(q, qd) qd: Coriolis and centrifugal torques. */
    Eigen::VectorXd getCoriolisVector(
        const Eigen::VectorXd &joint_positions, const Eigen::VectorXd &joint_velocities) const override;

    Eigen::VectorXd getGravityVector(const Eigen::VectorXd &joint_positions) const override;

    Eigen::VectorXd getFrictionVector(const Eigen::VectorXd &joint_velocities) const override;
};

} // namespace $name

#endif
