// The families of operations, in the table's order. meaning.cpp calls all of these once.
#pragma once

#include "ops/meaning.hpp"

namespace ebb::ops {

void add_elementwise(MeaningTable& table);
void add_creation(MeaningTable& table);
void add_views(MeaningTable& table);
void add_movement(MeaningTable& table);
void add_movement_blocks(MeaningTable& table);
void add_indexing(MeaningTable& table);
void add_reductions(MeaningTable& table);
void add_sorting(MeaningTable& table);
void add_images(MeaningTable& table);
void add_suppression(MeaningTable& table);
void add_signal(MeaningTable& table);
void add_sparse(MeaningTable& table);
void add_ragged(MeaningTable& table);
void add_products(MeaningTable& table);
void add_convolutions(MeaningTable& table);
void add_dilation(MeaningTable& table);
void add_pooling(MeaningTable& table);
void add_normalisation(MeaningTable& table);
void add_optimizers(MeaningTable& table);

}  // namespace ebb::ops
