#include "ebb/ops/session.hpp"

#include <algorithm>

namespace ebb {
namespace {

thread_local Session* innermost = nullptr;

Device& opened(const SessionOptions& options) {
  return Device::open(
      {.kind = kind_of_name(options.device), .name = options.device, .budget = options.budget});
}

StreamId opened_stream(Device& device, bool own) {
  return own && device.link() != nullptr ? device.heap()->create_stream() : kDefaultStream;
}

}  // namespace

Session::Session(SessionOptions options)
    : device_(opened(options)),
      own_(Context::create({.name = std::move(options.name)})),
      context_(*own_),
      stream_(opened_stream(device_, options.own_stream)),
      outer_(innermost) {
  innermost = this;
}

Session::Session(const ops::RunPlace& place)
    : device_(place.device),
      context_(place.context),
      region_(place.region),
      stream_(place.stream),
      outer_(innermost) {
  innermost = this;
}

Session::~Session() {
  innermost = outer_;
  if (own_ == nullptr) return;
  own_.reset();
  if (stream_ != kDefaultStream) device_.heap()->destroy_stream(stream_);
  try {
    Device::close(device_);
  } catch (const Error&) {  // somebody still holds memory of it; it closes with the process
  }
}

Session& Session::current() {
  if (innermost == nullptr) {
    raise(ErrorKind::kWrongState, "[session] this thread has none: open one with ebb::Session");
  }
  return *innermost;
}

Scope::Scope(std::string_view label)
    : session_(Session::current()),
      outer_(session_.region_),
      region_(session_.context().open(outer_, label)) {
  session_.region_ = region_;
}

Scope::~Scope() {
  session_.region_ = outer_;
  try {
    session_.context().close(region_);
  } catch (const Error&) {  // its context has ended, and took it along
  }
}

Tensor Scope::keep(Tensor tensor) {
  session_.context().attach(outer_ == 0 ? session_.context().root() : outer_, tensor.handle());
  return tensor;
}

Tensor detail::tensor_of(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  const ops::RunPlace place = Session::current().place();
  if (bytes_of(shape, size_of(dtype)) != bytes.size()) {
    raise(ErrorKind::kInvalidArgument, "[tensor] {} elements were given, shape {} has {}",
          bytes.size() / size_of(dtype), shape.to_string(), shape.elements());
  }
  Tensor made(place.context, place.context.make({.device = &place.device,
                                                 .dtype = dtype,
                                                 .shape = shape,
                                                 .region = place.region,
                                                 .stream = place.stream}));
  ops::write(place.context, made.handle(), bytes);
  return made;
}

namespace ops {

std::vector<Tensor> apply(OpId op, std::span<const Tensor* const> inputs,
                          std::span<const double> attributes) {
  const RunPlace place = Session::current().place();
  std::vector<Handle> handles;
  handles.reserve(inputs.size());
  for (const Tensor* input : inputs) handles.push_back(input->handle());
  // Only an operation with as many inputs has more results.
  std::vector<OpResult> results(std::max<std::size_t>(64, handles.size()));
  std::vector<Tensor> tensors;
  tensors.reserve(results.size());  // before there are results that would have no owner
  const std::size_t count = run(place, op, handles, attributes, results);
  for (std::size_t i = 0; i < count; ++i) tensors.emplace_back(place.context, results[i].handle);
  return tensors;
}

Tensor apply_one(OpId op, std::initializer_list<const Tensor*> inputs,
                 std::span<const double> attributes) {
  const RunPlace place = Session::current().place();
  std::array<Handle, 8> handles{};
  std::size_t count = 0;
  for (const Tensor* input : inputs) handles[count++] = input->handle();
  OpResult result;
  run(place, op, {handles.data(), count}, attributes, {&result, 1});
  return Tensor(place.context, result.handle);
}

}  // namespace ops
}  // namespace ebb
