#include "ebb/grad/variable.hpp"

namespace ebb {
namespace {

// A scope that is open ends what was made in it; a variable outlives it.
Tensor of_no_scope(Tensor value) {
  if (!value) raise(ErrorKind::kInvalidArgument, "[variable] no value was given, one is needed");
  value.context().detach(value.handle());
  return value;
}

}  // namespace

Variable::Variable(Tensor value, std::string name)
    : value_(of_no_scope(std::move(value))), name_(std::move(name)) {}

void Variable::assign(Tensor value) {
  if (value.shape() != value_.shape() || value.dtype() != value_.dtype()) {
    raise(ErrorKind::kInvalidArgument, "[variable] {} {} was given to \"{}\", it is {} {}",
          name_of(value.dtype()), value.shape().to_string(), name_, name_of(value_.dtype()),
          value_.shape().to_string());
  }
  value_ = of_no_scope(std::move(value));
}

}  // namespace ebb
