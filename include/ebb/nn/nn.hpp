// Layers, losses, optimizers and data, composed of operations: every header of ebb/nn.
// docs/nn.md shows how a model is trained.
#pragma once

#include "ebb/nn/attention.hpp"
#include "ebb/nn/convolution.hpp"
#include "ebb/nn/data.hpp"
#include "ebb/nn/dense.hpp"
#include "ebb/nn/dropout.hpp"
#include "ebb/nn/embedding.hpp"
#include "ebb/nn/files.hpp"
#include "ebb/nn/initial.hpp"
#include "ebb/nn/layer.hpp"
#include "ebb/nn/losses.hpp"
#include "ebb/nn/normalisation.hpp"
#include "ebb/nn/optimizers.hpp"
#include "ebb/nn/padding.hpp"
#include "ebb/nn/pooling.hpp"
#include "ebb/nn/recurrent.hpp"
#include "ebb/nn/sequential.hpp"
#include "ebb/nn/training.hpp"
