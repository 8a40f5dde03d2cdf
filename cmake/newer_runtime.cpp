// What objects that were compiled with newer headers ask for and the runtime of cmake/EbbPortable.cmake does not have.
// Hidden: each library that is linked so has its own.
#include <locale.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <new>
#include <string>

#define EBB_HIDDEN __attribute__((visibility("hidden")))

// GCC 11: a new[] whose size does not fit.
EBB_HIDDEN [[noreturn]] void throw_bad_length() __asm__("_ZSt28__throw_bad_array_new_lengthv");
void throw_bad_length() { throw std::bad_array_new_length(); }

// GCC 11. strtod reads more than from_chars may: white space and a plus before the number, hexadecimal digits.
EBB_HIDDEN std::from_chars_result read_double(const char* first, const char* last, double& value,
                                              std::chars_format format) noexcept
    __asm__("_ZSt10from_charsPKcS0_RdSt12chars_format");

std::from_chars_result read_double(const char* first, const char* last, double& value,
                                   std::chars_format format) noexcept {
  const bool has_exponent = (format & std::chars_format::scientific) != std::chars_format{};
  std::string text;
  for (const char* at = first; at != last; ++at) {
    const char letter = static_cast<char>(*at | 0x20);
    if (letter == 'x' || (letter == 'e' && !has_exponent)) break;
    if (*at == ' ' || (*at >= '\t' && *at <= '\r') || *at == '\0') break;
    text += *at;
  }
  if (text.empty() || text[0] == '+') return {first, std::errc::invalid_argument};
  static const locale_t kPlain = newlocale(LC_ALL_MASK, "C", nullptr);
  const int before = errno;
  errno = 0;
  char* end = nullptr;
  const double read = strtod_l(text.c_str(), &end, kPlain);
  const bool fits = errno != ERANGE;
  errno = before;
  const char* stopped = first + (end - text.c_str());
  if (stopped == first) return {first, std::errc::invalid_argument};
  if (!fits) return {stopped, std::errc::result_out_of_range};
  value = read;
  return {stopped, std::errc{}};
}

// GCC 11 exports what std::exception_ptr's copies and ends call. Before, the copies and ends themselves were in the
// library, and are there still.
extern "C" {
void end_pointer(void* pointer) noexcept __asm__("_ZNSt15__exception_ptr13exception_ptrD1Ev");
void copy_pointer(void* to, const void* from) noexcept
    __asm__("_ZNSt15__exception_ptr13exception_ptrC1ERKS0_");
EBB_HIDDEN void release_pointer(void* pointer) noexcept
    __asm__("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
EBB_HIDDEN void add_reference(void* pointer) noexcept
    __asm__("_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv");
}

void release_pointer(void* pointer) noexcept { end_pointer(pointer); }

void add_reference(void* pointer) noexcept {
  void* copy = nullptr;  // one that never ends
  copy_pointer(&copy, pointer);
}
