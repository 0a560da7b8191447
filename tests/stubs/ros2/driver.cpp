/* Reads states (q, then qd) and prints what solver and controller make of them: M by rows, C qd, g, f, efforts. */
#include <cstddef>
#include <cstdio>
#include <iostream>
#include <limits>
#include <stdexcept>

#include <controller_interface/controller_interface.hpp>
#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>

namespace plugin_factory {
std::shared_ptr<inverse_dynamics_solver::InverseDynamicsSolver> make(const inverse_dynamics_solver::InverseDynamicsSolver *);
std::shared_ptr<controller_interface::ControllerInterface> make(const controller_interface::ControllerInterface *);
}

namespace {

using Controller = controller_interface::ControllerInterface;
using Solver = inverse_dynamics_solver::InverseDynamicsSolver;
using controller_interface::CallbackReturn;

void print(const Eigen::VectorXd &vector)
{
    for (Eigen::Index k = 0; k < vector.size(); k++)
        std::printf("%.17g ", vector(k));
}

int fail(const char *what)
{
    std::fprintf(stderr, "%s\n", what);
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string> joints(argv + 1, argv + argc);
    const std::size_t n = joints.size();
    const auto solver = plugin_factory::make(static_cast<const Solver *>(nullptr));
    const auto controller = plugin_factory::make(static_cast<const Controller *>(nullptr));
    const rclcpp_lifecycle::State state;
    solver->initialize();
    try {
        solver->getGravityVector(Eigen::VectorXd(static_cast<Eigen::Index>(n) + 1));
        return fail("a vector that is too long is taken");
    } catch (const std::invalid_argument &) {
    }
    if (controller->on_init() != CallbackReturn::SUCCESS)
        return fail("on_init");
    if (controller->on_configure(state) != CallbackReturn::ERROR)
        return fail("no joints are taken");
    auto &parameters = controller->get_node()->parameters;
    parameters["joints"] = joints;
    parameters["friction_scale"] = 0.5;
    parameters["damping"] = 2.0;
    if (controller->on_configure(state) != CallbackReturn::SUCCESS)
        return fail("on_configure");
    std::vector<double> measured(2*n), effort(n);
    const auto commanded = controller->command_interface_configuration().names;
    const auto read = controller->state_interface_configuration().names;
    for (const bool turned : {true, false}) {
        std::vector<hardware_interface::LoanedCommandInterface> commands;
        std::vector<hardware_interface::LoanedStateInterface> states;
        for (std::size_t k = 0; k < n; k++)
            commands.emplace_back(commanded[turned ? n - 1 - k : k], &effort[k]);
        for (std::size_t k = 0; k < 2*n; k++)
            states.emplace_back(read[k], &measured[k]);
        controller->assign_interfaces(std::move(commands), std::move(states));
        if ((controller->on_activate(state) == CallbackReturn::SUCCESS) == turned)
            return fail("on_activate");
    }
    const auto update = [&] { return controller->update(rclcpp::Time(), rclcpp::Duration()); };
    Eigen::VectorXd q(static_cast<Eigen::Index>(n)), qd(static_cast<Eigen::Index>(n));
    while (std::cin >> measured[0]) {
        for (std::size_t k = 1; k < 2*n; k++)
            std::cin >> measured[k];
        for (std::size_t k = 0; k < n; k++) {
            q(static_cast<Eigen::Index>(k)) = measured[k];
            qd(static_cast<Eigen::Index>(k)) = measured[n + k];
        }
        const Eigen::MatrixXd inertia = solver->getInertiaMatrix(q);
        for (Eigen::Index i = 0; i < inertia.rows(); i++)
            for (Eigen::Index k = 0; k < inertia.rows(); k++)
                std::printf("%.17g ", inertia(i, k));
        print(solver->getCoriolisVector(q, qd));
        print(solver->getGravityVector(q));
        print(solver->getFrictionVector(qd));
        if (update() != controller_interface::return_type::OK)
            return fail("update");
        for (const double value : effort)
            std::printf("%.17g ", value);
        std::printf("\n");
    }
    measured[n] = std::numeric_limits<double>::quiet_NaN();
    effort.assign(n, 7.0);
    if (update() != controller_interface::return_type::ERROR || effort[0] != 7.0)
        return fail("what is not a number is commanded");
    if (controller->on_deactivate(state) != CallbackReturn::SUCCESS || effort[0] != 0.0)
        return fail("on_deactivate");
    return 0;
}
