/* Stand-in: the virtual functions of the solver interface, with their types. */
#pragma once
#include <eigen3/Eigen/Core>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>
#include <string>

namespace inverse_dynamics_solver {

class InverseDynamicsSolver
{
public:
    using Vector = Eigen::VectorXd;
    virtual ~InverseDynamicsSolver() = default;
    virtual void initialize(
        rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr = nullptr, const std::string & = "",
        const std::string & = "") = 0;
    virtual Eigen::MatrixXd getInertiaMatrix(const Vector &) const = 0;
    virtual Vector getCoriolisVector(const Vector &, const Vector &) const = 0;
    virtual Vector getGravityVector(const Vector &) const = 0;
    virtual Vector getFrictionVector(const Vector &) const = 0;
};

} // namespace inverse_dynamics_solver
