// What objects that were compiled with newer headers, and the C++ library itself, ask of glibc and that of
// cmake/EbbPortable.cmake does not have. Hidden: each library that is linked so has its own.
#define EBB_HIDDEN __attribute__((visibility("hidden")))

// glibc 2.32: true while there is one thread, which lets shared_ptr do without atomics. Never true is always right.
extern "C" {
EBB_HIDDEN extern char __libc_single_threaded;
char __libc_single_threaded = 0;
}
