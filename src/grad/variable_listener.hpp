// Who hears which variables this thread uses: functions that are being recorded (src/program/record.cpp). They are a chain,
// innermost first, and each tells the one around it.
#pragma once

#include "ebb/grad/variable.hpp"

namespace ebb {

class VariableListener {
 public:
  VariableListener(const VariableListener&) = delete;
  VariableListener& operator=(const VariableListener&) = delete;

  using Place = std::shared_ptr<detail::VariablePlace>;
  static const Place& place_of(const Variable& variable) noexcept { return variable.place_; }
  // Without anybody hearing of it.
  static const Tensor& value_of(const Variable& variable) noexcept { return variable.value_; }

  // Its value is about to be given out or replaced. May throw: then it is not.
  void tell_used(const Variable& variable);
  // There is one more.
  void tell_made(const Variable& variable);

 protected:
  // Becomes the innermost one of this thread, until its end, which must be on the same thread.
  VariableListener() noexcept;
  ~VariableListener();

 private:
  virtual void used(const Variable& variable) = 0;
  virtual void made(const Variable& variable) = 0;

  VariableListener* const outer_;
};

}  // namespace ebb
