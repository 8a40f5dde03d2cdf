// The memory orders that the core asks for, by the line that asks: one of them can be weakened to
// relaxed while a schedule runs, to see whether that is noticed. So one build judges each of them.
//
// EBB_WEAKENED names it, as `memory/slot_table.hpp:136`, or several with commas between them.
// EBB_ORDERS names a file to which each exploration adds the lines that it came by.
#pragma once

#include <atomic>
#include <source_location>
#include <string_view>

namespace ebb::schedules {

// What the operation at that place has for its order.
std::memory_order order_at(std::memory_order asked, const std::source_location& at);

void write_orders_met(std::string_view during);

}  // namespace ebb::schedules
