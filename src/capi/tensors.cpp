// Tensors and holds.
#include <algorithm>

#include "capi/names.hpp"
#include "capi/sized.hpp"

static_assert(EBB_MAX_RANK == ebb::kMaxRank);

namespace {

using namespace ebb;
using namespace ebb::capi;

// More than any machine has; below it sums of sizes do not wrap around.
constexpr std::uint64_t kMostForeignBytes = std::uint64_t{1} << 62;

DType dtype_of(std::uint32_t dtype, const char* who) {
  if (!is_dtype(dtype)) [[unlikely]] {
    raise(ErrorKind::kInvalidArgument, "[{}] dtype {} was given, {} to {} are allowed", who, dtype,
          static_cast<int>(EBB_FLOAT32), static_cast<int>(EBB_STRING));
  }
  return static_cast<DType>(dtype);
}

std::span<const std::int64_t> dims_of(const std::int64_t* dims, std::uint32_t rank,
                                      const char* who) {
  if (rank == 0) return {};
  return {&needed(dims, who), rank};
}

TensorSpec to_spec(const ebb_tensor_spec& given, Device* device, const char* who) {
  return {.device = device,
          .dtype = dtype_of(given.dtype, who),
          .shape = Shape(dims_of(given.dims, given.rank, who)),
          .region = given.region,
          .site = given.site,
          .stream = given.stream};
}

std::uint64_t checked_bytes(std::uint64_t bytes, const char* who) {
  if (bytes > kMostForeignBytes) [[unlikely]] {
    raise(ErrorKind::kInvalidArgument, "[{}] {} bytes were given, at most 2^62 are allowed", who,
          bytes);
  }
  return bytes;
}

ForeignSpec to_spec(const ebb_foreign_spec& given, Device* device) {
  if ((given.flags & ~std::uint32_t{EBB_ADOPT_UNWATCHED}) != 0) [[unlikely]] {
    raise(ErrorKind::kInvalidArgument,
          "[tensor_adopt] flags {:#x} were given, bits of {:#x} are allowed", given.flags,
          std::uint32_t{EBB_ADOPT_UNWATCHED});
  }
  return {.device = device,
          .key = given.key,
          .bytes = checked_bytes(given.bytes, "tensor_adopt"),
          .tag = given.tag,
          .dtype = given.dtype == 0 ? DType::kUnknown : dtype_of(given.dtype, "tensor_adopt"),
          .dims = dims_of(given.dims, given.rank, "tensor_adopt"),
          .region = given.region,
          .site = given.site,
          .watched = (given.flags & EBB_ADOPT_UNWATCHED) == 0};
}

ebb_tensor_info to_c(const TensorInfo& info) {
  ebb_tensor_info out{};
  out.device = info.device->id();
  out.dtype = static_cast<std::uint32_t>(info.dtype);
  out.rank = info.rank;
  std::copy(info.dims.begin(), info.dims.end(), out.dims);
  out.bytes = info.bytes;
  out.key = info.key;
  out.tag = info.tag;
  out.region = info.region;
  out.site = info.site;
  out.orphaned = info.orphaned ? 1 : 0;
  out.strided = info.dense ? 0 : 1;
  std::copy(info.strides.begin(), info.strides.end(), out.strides);
  return out;
}

}  // namespace

extern "C" {

ebb_status ebb_tensor_create(ebb_context context, const ebb_tensor_spec* spec, ebb_handle* handle) {
  return guarded([&] {
    const ebb_tensor_spec given = read_sized(spec, "tensor_create");
    ebb_handle& result = needed(handle, "tensor_create");
    const NamedDevice device(given.device);
    const Context maker = context_of(context);
    const Handle made = maker.make(to_spec(given, &*device, "tensor_create"));
    device.confirm([&] { maker.discard(made); });
    result = made;
  });
}

ebb_status ebb_tensor_view(ebb_context context, ebb_handle base, uint64_t byte_offset,
                           const ebb_tensor_spec* spec, ebb_handle* handle) {
  return guarded([&] {
    const ebb_tensor_spec given = read_sized(spec, "tensor_view");
    ebb_handle& made = needed(handle, "tensor_view");
    made = context_of(context).view(base, byte_offset, to_spec(given, nullptr, "tensor_view"));
  });
}

ebb_status ebb_tensor_adopt(ebb_context context, const ebb_foreign_spec* spec, ebb_handle* handle) {
  return guarded([&] {
    const ebb_foreign_spec given = read_sized(spec, "tensor_adopt");
    ebb_handle& result = needed(handle, "tensor_adopt");
    const NamedDevice device(given.device);
    const Context adopter = context_of(context);
    const Handle made = adopter.adopt(to_spec(given, &*device));
    device.confirm([&] { adopter.discard(made); });
    result = made;
  });
}

ebb_status ebb_tensor_rebook(ebb_context context, ebb_handle handle, ebb_device device,
                             uint64_t bytes) {
  return guarded([&] {
    context_of(context).rebook(handle, optional_device(device),
                               checked_bytes(bytes, "tensor_rebook"));
  });
}

ebb_status ebb_tensor_dispose(ebb_context context, ebb_handle handle) {
  return guarded([&] { context_of(context).dispose(handle); });
}

ebb_status ebb_tensor_made_at(ebb_context context, ebb_handle handle, ebb_site site) {
  return guarded([&] { context_of(context).made_at(handle, site); });
}

ebb_status ebb_tensors_end(ebb_context context, const ebb_handle* handles, size_t count,
                           uint32_t reason) {
  return guarded([&] {
    const Context ending = context_of(context);
    if (reason > EBB_ENDED_RECLAIMED) {
      raise(ErrorKind::kInvalidArgument, "[tensors_end] reason {} was given, 0 to {} are allowed",
            reason, static_cast<int>(EBB_ENDED_RECLAIMED));
    }
    ending.end_all(listed(handles, count, "tensors_end"), static_cast<Reason>(reason));
  });
}

ebb_status ebb_tensor_describe(ebb_context context, ebb_handle handle, ebb_tensor_info* info) {
  return guarded([&] {
    const SizedOutput output(info, "tensor_describe");
    output.write(to_c(context_of(context).describe(handle)));
  });
}

ebb_status ebb_hold_acquire(ebb_context context, ebb_handle handle, ebb_hold* hold) {
  return guarded([&] {
    needed(hold, "hold_acquire");
    *hold = context_of(context).hold_by_name(handle);
  });
}

// A hold's name alone leads to its memory: it outlives the context it was made in.
ebb_status ebb_hold_data(ebb_context, ebb_hold hold, void** data, uint64_t* bytes) {
  return guarded([&] {
    void*& start = needed(data, "hold_data");
    const std::span<std::byte> held = Context::held_data(hold);
    start = held.data();
    if (bytes != nullptr) *bytes = held.size();
  });
}

ebb_status ebb_hold_release(ebb_context, ebb_hold hold) {
  return guarded([&] { Context::release_by_name(hold); });
}

}  // extern "C"
