// A robot as a flat list of numbers, and the Pinocchio model made of it.
//
// n, gravity (3), then for each joint: 1 if revolute, index of the parent (-1: base), rotation (9, row by row) and
// origin (3) of the joint in its parent, mass, centre (3), tensor about the centre (xx xy xz yy yz zz), rotor inertia;
// then the number of regressor columns and their indices.
#pragma once

#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/spatial.hpp>

struct Robot {
    pinocchio::Model model;
    std::vector<int> columns;
};

inline Robot robot_of(const double *x)
{
    Robot robot;
    pinocchio::Model &model = robot.model;
    const int n = static_cast<int>(*x++);
    model.gravity.linear() = Eigen::Vector3d(x[0], x[1], x[2]);
    x += 3;
    std::vector<pinocchio::JointIndex> ids;
    std::vector<double> rotors;
    for (int i = 0; i < n; i++, x += 25) {
        const int parent = static_cast<int>(x[1]);
        const Eigen::Matrix3d R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(x + 2);
        const pinocchio::SE3 placement(R, Eigen::Map<const Eigen::Vector3d>(x + 11));
        const double *t = x + 18;
        Eigen::Matrix3d tensor;
        tensor << t[0], t[1], t[2], t[1], t[3], t[4], t[2], t[4], t[5];
        const auto joint = x[0] != 0 ? pinocchio::JointModel(pinocchio::JointModelRZ())
                                     : pinocchio::JointModel(pinocchio::JointModelPZ());
        const auto id = model.addJoint(parent < 0 ? 0 : ids[static_cast<size_t>(parent)], joint, placement,
                                       "joint" + std::to_string(i));
        const pinocchio::Inertia body(x[14], Eigen::Vector3d(x[15], x[16], x[17]), tensor);
        model.appendBodyToJoint(id, body, pinocchio::SE3::Identity());
        ids.push_back(id);
        rotors.push_back(x[24]);
    }
    for (int i = 0; i < n; i++)
        model.armature[i] = rotors[static_cast<size_t>(i)];
    const int n_columns = static_cast<int>(*x++);
    for (int i = 0; i < n_columns; i++)
        robot.columns.push_back(static_cast<int>(x[i]));
    return robot;
}
