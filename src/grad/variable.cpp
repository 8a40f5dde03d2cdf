#include "ebb/grad/variable.hpp"

#include "grad/variable_listener.hpp"

namespace ebb {
namespace {

constinit thread_local VariableListener* listener = nullptr;

// A scope that is open ends what was made in it; a variable outlives it.
Tensor of_no_scope(Tensor value) {
  if (!value) raise(ErrorKind::kInvalidArgument, "[variable] no value was given, one is needed");
  value.context().detach(value.handle());
  return value;
}

std::string described(const std::string& name) {
  return name.empty() ? "a variable without a name" : "\"" + name + "\"";
}

}  // namespace

namespace detail {

void check_are_variables(std::span<Variable* const> variables, std::string_view who) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i] != nullptr) continue;
    raise(ErrorKind::kInvalidArgument, "[{}] variable {} of {} is null, a variable is needed", who,
          i + 1, variables.size());  // arithmetic: of elements in memory
  }
}

}  // namespace detail

// ---- who listens

VariableListener::VariableListener() noexcept : outer_(std::exchange(listener, this)) {}
VariableListener::~VariableListener() { listener = outer_; }

void VariableListener::tell_used(const Variable& variable) {
  if (outer_ != nullptr) outer_->tell_used(variable);
  used(variable);
}

void VariableListener::tell_made(const Variable& variable) {
  if (outer_ != nullptr) outer_->tell_made(variable);
  made(variable);
}

// ---- a variable

Variable::Variable(Tensor value, std::string name)
    : value_(of_no_scope(std::move(value))),
      name_(std::move(name)),
      place_(std::make_shared<detail::VariablePlace>(detail::VariablePlace{this})) {
  if (listener != nullptr) listener->tell_made(*this);
}

Variable::Variable(const Variable& other) : Variable(other.value(), other.name_) {}

Variable::Variable(Variable&& other) noexcept
    : value_(std::move(other.value_)),
      name_(std::move(other.name_)),
      place_(std::move(other.place_)) {
  if (place_ == nullptr) return;
  place_->variable = this;
  ++place_->changes;
}

Variable& Variable::operator=(const Variable& other) {
  if (this == &other) return *this;
  Variable copy(other);
  if (listener != nullptr && place_ != nullptr) listener->tell_used(*this);
  if (place_ == nullptr) {
    place_ = std::make_shared<detail::VariablePlace>(detail::VariablePlace{this});
    if (listener != nullptr) listener->tell_made(*this);
  }
  std::swap(value_, copy.value_);
  std::swap(name_, copy.name_);
  const bool is_alike =
      copy.value_ && copy.value_.shape() == value_.shape() && copy.value_.dtype() == value_.dtype();
  if (!is_alike) ++place_->changes;
  return *this;
}

Variable::~Variable() {
  if (place_ != nullptr) place_->variable = nullptr;
}

const Tensor& Variable::value() const {
  if (listener != nullptr) listener->tell_used(*this);
  return value_;
}

void Variable::assign(Tensor value) {
  if (value.shape() != value_.shape() || value.dtype() != value_.dtype()) {
    raise(ErrorKind::kInvalidArgument, "[variable] {} {} was given to {}, it is {} {}",
          name_of(value.dtype()), value.shape().to_string(), described(name_),
          name_of(value_.dtype()), value_.shape().to_string());
  }
  if (listener != nullptr) listener->tell_used(*this);
  value_ = of_no_scope(std::move(value));
}

}  // namespace ebb
