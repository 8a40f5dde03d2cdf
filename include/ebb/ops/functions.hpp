// Every operation of the table as a function.
#pragma once

#include "ebb/ops/functions/creation.hpp"
#include "ebb/ops/functions/elementwise.hpp"
#include "ebb/ops/functions/images.hpp"
#include "ebb/ops/functions/movement.hpp"
#include "ebb/ops/functions/networks.hpp"
#include "ebb/ops/functions/reductions.hpp"
#include "ebb/ops/functions/sparse.hpp"
