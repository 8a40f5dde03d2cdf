// What plans of a device that works on its own (a GPU) have instead of, or beside, what fuse.hpp names: there a launch
// costs more than most of what it does.
#pragma once

#include "program/plan.hpp"

namespace ebb::programs {

// Steps that give a tensor the shape that it has are gone (device_parts.cpp).
void drop_same_shapes(Plan& plan, std::vector<Step>& steps);

// Parts of tensors are views, and elementwise steps whose result is cut come after the cut (device_parts.cpp): the same
// numbers to the bit.
void cut_early(Plan& plan, std::vector<Step>& steps);

// Products of parts of one tensor with the same matrix are one product (device_products.cpp). The last bits may be others.
void merge_products(Plan& plan, std::vector<Step>& steps);

// Rows that are centred and divided by their deviation are one step each (device_norms.cpp). The last bits may be others.
void join_row_norms(Plan& plan, std::vector<Step>& steps);

// Elementwise steps as chains (device_chains.cpp): the same numbers to the bit. False: that would hold more memory.
bool make_device_chains(Plan& plan, std::vector<Step>& steps);

}  // namespace ebb::programs
