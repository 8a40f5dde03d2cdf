#include "backends/cpu/kernels/copy.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/element.hpp"
#include "backends/cpu/parallel.hpp"

namespace ebb::cpu {
namespace {

constexpr std::int64_t kGrain = 128 << 10;  // elements
constexpr std::int64_t kTile = 16;

template <typename T>
void copy_run(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
              std::int64_t count) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else if (from_step == 0 && to_step == 1) {
    std::fill_n(to, count, *from);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
  }
}

struct Axis {
  std::int64_t extent, from, to;
};

// Two axes of which one is dense on this side and the other on that: in tiles, so that both sides
// stay in the cache.
template <typename T>
void copy_tiled(const T* from, T* to, Axis rows, Axis columns) {
  for (std::int64_t r = 0; r < rows.extent; r += kTile) {
    const std::int64_t r_end = std::min(rows.extent, r + kTile);
    for (std::int64_t c = 0; c < columns.extent; c += kTile) {
      const std::int64_t c_end = std::min(columns.extent, c + kTile);
      for (std::int64_t i = r; i < r_end; ++i) {
        for (std::int64_t j = c; j < c_end; ++j) {
          to[i * rows.to + j * columns.to] = from[i * rows.from + j * columns.from];
        }
      }
    }
  }
}

template <typename T>
class Copy {
 public:
  Copy(const ops::CopyPlan& plan, const std::byte* from, std::byte* to)
      : plan_(plan),
        from_(reinterpret_cast<const T*>(from) + plan.from_offset),
        to_(reinterpret_cast<T*>(to) + plan.to_offset) {
    outer_ = plan.axes;
    if (plan.axes > 0) inner_ = axis(--outer_);
    // An axis that is dense in the source, while the inner one is dense in the target.
    if (inner_.from != 1 && inner_.from != 0 && inner_.extent >= 4) {
      for (std::size_t i = 0; i < outer_; ++i) {
        if (plan.from_step[i] == 1 && plan.extent[i] >= 4) tiled_ = i;
      }
    }
    for (std::size_t i = 0; i < outer_; ++i) {
      if (i != tiled_) runs_ *= plan.extent[i];
    }
    per_run_ = inner_.extent * (tiled_ == kNone ? 1 : plan.extent[tiled_]);
  }

  void run() const {
    if (runs_ == 0 || per_run_ == 0) return;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / per_run_);
    if (runs_ == 1 && tiled_ == kNone) return run_one();
    parallel_for(runs_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) run_at(at);
    });
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  Axis axis(std::size_t i) const { return {plan_.extent[i], plan_.from_step[i], plan_.to_step[i]}; }
  void run_one() const {
    parallel_for(inner_.extent, kGrain, [&](std::int64_t begin, std::int64_t end) {
      copy_run(from_ + begin * inner_.from, inner_.from, to_ + begin * inner_.to, inner_.to,
               end - begin);
    });
  }
  void run_at(std::int64_t rest) const {
    const T* from = from_;
    T* to = to_;
    for (std::size_t i = outer_; i-- > 0;) {
      if (i == tiled_) continue;
      const std::int64_t position = rest % plan_.extent[i];
      rest /= plan_.extent[i];
      from += position * plan_.from_step[i];
      to += position * plan_.to_step[i];
    }
    if (tiled_ != kNone) {
      copy_tiled(from, to, axis(tiled_), inner_);
    } else {
      copy_run(from, inner_.from, to, inner_.to, inner_.extent);
    }
  }

  const ops::CopyPlan& plan_;
  const T* from_;
  T* to_;
  std::size_t outer_ = 0;
  Axis inner_{1, 1, 1};
  std::size_t tiled_ = kNone;
  std::int64_t runs_ = 1;
  std::int64_t per_run_ = 1;
};

}  // namespace

void copy(const ops::CopyPlan& plan, std::size_t element_size, const std::byte* from,
          std::byte* to) {
  switch (element_size) {
    case 1:
      return Copy<std::uint8_t>(plan, from, to).run();
    case 2:
      return Copy<std::uint16_t>(plan, from, to).run();
    case 4:
      return Copy<std::uint32_t>(plan, from, to).run();
    default:
      return Copy<std::uint64_t>(plan, from, to).run();
  }
}

void pack(const Operand& from, std::byte* to) {
  ops::CopyPlan plan;
  plan.add(from.shape, ops::strides_of(from), dense_strides(from.shape));
  plan.simplify();
  copy(plan, size_of(from.dtype), from.data, to);
}

void fill(DType dtype, std::byte* to, std::int64_t count, double value) {
  visit(dtype, [&]<typename T>(Type<T>) {
    const T one = convert<T>(value);
    T* elements = reinterpret_cast<T*>(to);
    parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      std::fill(elements + begin, elements + end, one);
    });
  });
}

}  // namespace ebb::cpu
