// Pinocchio's algorithms as C functions: the robot as numbers, inputs one after the other, outputs likewise.
#include "description.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Peer {
    Robot robot;
    pinocchio::Data data;
    int n;
    MatrixXd dq, dqd, dqdd;
    explicit Peer(const double *numbers)
        : robot(robot_of(numbers)), data(robot.model), n(robot.model.nv), dq(MatrixXd::Zero(n, n)),
          dqd(MatrixXd::Zero(n, n)), dqdd(MatrixXd::Zero(n, n))
    {
    }
};

Peer &peer_of(const double *numbers)
{
    static Peer peer(numbers); // one robot a process
    return peer;
}

} // namespace

extern "C" {

void pinocchio_inverse_dynamics(const double *numbers, const double *in, double *out)
{
    Peer &p = peer_of(numbers);
    const Map<const VectorXd> q(in, p.n), qd(in + p.n, p.n), qdd(in + 2 * p.n, p.n);
    Map<VectorXd>(out, p.n) = pinocchio::rnea(p.robot.model, p.data, q, qd, qdd);
}

// A batch, state after state; of any robot, since the model is built anew (which takes as long as some states).
void pinocchio_inverse_dynamics_loop(const double *numbers, long count, const double *q, const double *qd,
                                     const double *qdd, double *tau)
{
    Peer p(numbers);
    for (long k = 0; k < count * p.n; k += p.n) {
        const Map<const VectorXd> q_k(q + k, p.n), qd_k(qd + k, p.n), qdd_k(qdd + k, p.n);
        Map<VectorXd>(tau + k, p.n) = pinocchio::rnea(p.robot.model, p.data, q_k, qd_k, qdd_k);
    }
}

void pinocchio_bias_torque(const double *numbers, const double *in, double *out)
{
    Peer &p = peer_of(numbers);
    const Map<const VectorXd> q(in, p.n), qd(in + p.n, p.n);
    Map<VectorXd>(out, p.n) = pinocchio::nonLinearEffects(p.robot.model, p.data, q, qd);
}

// The upper triangle alone, as crba leaves it; Eigen's columns are our rows.
void pinocchio_mass_matrix(const double *numbers, const double *in, double *out)
{
    Peer &p = peer_of(numbers);
    const Map<const VectorXd> q(in, p.n);
    Map<MatrixXd>(out, p.n, p.n) = pinocchio::crba(p.robot.model, p.data, q);
}

void pinocchio_forward_dynamics(const double *numbers, const double *in, double *out)
{
    Peer &p = peer_of(numbers);
    const Map<const VectorXd> q(in, p.n), qd(in + p.n, p.n), tau(in + 2 * p.n, p.n);
    Map<VectorXd>(out, p.n) = pinocchio::aba(p.robot.model, p.data, q, qd, tau);
}

// All 10 n columns are computed, the base columns copied.
void pinocchio_base_regressor(const double *numbers, const double *in, double *out)
{
    Peer &p = peer_of(numbers);
    const Map<const VectorXd> q(in, p.n), qd(in + p.n, p.n), qdd(in + 2 * p.n, p.n);
    const auto &Y = pinocchio::computeJointTorqueRegressor(p.robot.model, p.data, q, qd, qdd);
    const int width = static_cast<int>(p.robot.columns.size());
    for (int k = 0; k < width; k++)
        for (int i = 0; i < p.n; i++)
            out[i * width + k] = Y(i, p.robot.columns[static_cast<size_t>(k)]);
}

void pinocchio_linearize_inverse(const double *numbers, const double *in, double *out)
{
    Peer &p = peer_of(numbers);
    const Map<const VectorXd> q(in, p.n), qd(in + p.n, p.n), qdd(in + 2 * p.n, p.n);
    pinocchio::computeRNEADerivatives(p.robot.model, p.data, q, qd, qdd, p.dq, p.dqd, p.dqdd);
    const int size = p.n * p.n;
    Map<MatrixXd>(out, p.n, p.n) = p.dq.transpose();
    Map<MatrixXd>(out + size, p.n, p.n) = p.dqd.transpose();
    Map<MatrixXd>(out + 2 * size, p.n, p.n) = p.dqdd.transpose();
}

void pinocchio_linearize_forward(const double *numbers, const double *in, double *out)
{
    Peer &p = peer_of(numbers);
    const Map<const VectorXd> q(in, p.n), qd(in + p.n, p.n), tau(in + 2 * p.n, p.n);
    pinocchio::computeABADerivatives(p.robot.model, p.data, q, qd, tau, p.dq, p.dqd, p.dqdd);
    const int size = p.n * p.n;
    Map<MatrixXd>(out, p.n, p.n) = p.dq.transpose();
    Map<MatrixXd>(out + size, p.n, p.n) = p.dqd.transpose();
    Map<MatrixXd>(out + 2 * size, p.n, p.n) = p.dqdd.transpose();
}
}
