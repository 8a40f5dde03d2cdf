// Where blocks stand in a picture of a device's memory: by their address, what nobody used left out;
// or, where what names them is no address (another runtime's memory), wherever there is room.
#pragma once

#include <vector>

#include "cli/history.hpp"

namespace ebb::cli {

struct PlacedBlock {
  Block block;
  std::uint64_t offset = 0;
};

struct BlockLayout {
  std::uint8_t device = 0;
  bool by_address = true;
  std::uint64_t extent = 0;              // offsets are below it
  std::vector<std::uint64_t> regions{};  // the offsets at which addresses jump
  std::vector<PlacedBlock> blocks{};     // by the time of their birth
};

// Memory is one tensor's at a time: names of which many overlap are no addresses.
// Pre: one device's, by the time of their birth.
bool are_addresses(const std::vector<Block>& blocks);

// Pre: by the time of their birth, as History has them. One layout a device.
std::vector<BlockLayout> laid_out(const std::vector<Block>& blocks);

}  // namespace ebb::cli
