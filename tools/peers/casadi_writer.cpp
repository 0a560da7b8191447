// Writes CasADi's C of Pinocchio's algorithms, traced on casadi::SX.
//
// casadi_writer NUMBERS FOLDER: NUMBERS is a binary file of doubles (see description.hpp); FOLDER receives one file a
// function. Prints each function's name, multiplications and divisions, additions, and all other instructions.
#include <pinocchio/autodiff/casadi.hpp>

#include "description.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using casadi::SX;
using Model = pinocchio::ModelTpl<SX>;
using Data = pinocchio::DataTpl<SX>;
using Vector = Eigen::Matrix<SX, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<SX, Eigen::Dynamic, Eigen::Dynamic>;

// Entries row by row as one column, the layout of our own functions.
static SX flat(const Matrix &matrix)
{
    SX result(static_cast<casadi_int>(matrix.size()), 1);
    for (Eigen::Index i = 0; i < matrix.rows(); i++)
        for (Eigen::Index j = 0; j < matrix.cols(); j++)
            result(static_cast<casadi_int>(i * matrix.cols() + j)) = matrix(i, j);
    return result;
}

static Matrix symmetric(Matrix matrix)
{
    matrix.triangularView<Eigen::StrictlyLower>() = matrix.transpose().triangularView<Eigen::StrictlyLower>();
    return matrix;
}

static void write(const std::string &folder, const std::string &name, const std::vector<SX> &inputs, const SX &output)
{
    const casadi::Function function("casadi_" + name, inputs, {SX::densify(output)});
    casadi_int products = 0, sums = 0, others = 0;
    for (casadi_int k = 0; k < function.n_instructions(); k++) {
        switch (function.instruction_id(k)) {
        case casadi::OP_MUL: case casadi::OP_DIV: case casadi::OP_SQ: case casadi::OP_INV: case casadi::OP_TWICE:
            products++;
            break;
        case casadi::OP_ADD: case casadi::OP_SUB: case casadi::OP_NEG:
            sums++;
            break;
        case casadi::OP_INPUT: case casadi::OP_OUTPUT: case casadi::OP_CONST:
            break;
        default:
            others++;
        }
    }
    std::printf("%s %lld %lld %lld\n", name.c_str(), products, sums, others);
    casadi::CodeGenerator code(name + ".c");
    code.add(function);
    code.generate(folder + "/");
}

int main(int, char **arguments)
{
    std::ifstream file(arguments[1], std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const Robot robot = robot_of(reinterpret_cast<const double *>(bytes.data()));
    const std::string folder = arguments[2];
    const Model model = robot.model.cast<SX>();
    const int n = model.nv;

    const SX sq = SX::sym("q", n), sqd = SX::sym("qd", n), sx = SX::sym("x", n);
    Vector q(n), qd(n), x(n);
    pinocchio::casadi::copy(sq, q);
    pinocchio::casadi::copy(sqd, qd);
    pinocchio::casadi::copy(sx, x);
    const std::vector<SX> motion{sq, sqd, sx};

    Data data(model);
    write(folder, "inverse_dynamics", motion, flat(pinocchio::rnea(model, data, q, qd, x)));
    write(folder, "bias_torque", {sq, sqd}, flat(pinocchio::nonLinearEffects(model, data, q, qd)));
    write(folder, "mass_matrix", {sq}, flat(symmetric(pinocchio::crba(model, data, q))));
    write(folder, "forward_dynamics", motion, flat(pinocchio::aba(model, data, q, qd, x)));
    const Matrix Y = pinocchio::computeJointTorqueRegressor(model, data, q, qd, x);
    Matrix chosen(n, static_cast<Eigen::Index>(robot.columns.size()));
    for (size_t k = 0; k < robot.columns.size(); k++)
        chosen.col(static_cast<Eigen::Index>(k)) = Y.col(robot.columns[k]);
    write(folder, "base_regressor", motion, flat(chosen));

    Matrix dq = Matrix::Zero(n, n), dqd = Matrix::Zero(n, n), dx = Matrix::Zero(n, n);
    pinocchio::computeRNEADerivatives(model, data, q, qd, x, dq, dqd, dx);
    write(folder, "linearize_inverse", motion, SX::vertcat({flat(dq), flat(dqd), flat(symmetric(dx))}));
    pinocchio::computeABADerivatives(model, data, q, qd, x, dq, dqd, dx);
    write(folder, "linearize_forward", motion, SX::vertcat({flat(dq), flat(dqd), flat(dx)}));
    return 0;
}
