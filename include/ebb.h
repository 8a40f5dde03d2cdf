/* Ebb's C ABI: the one door for hosts (Node, the JVM, anything else).
 *
 * Rules that hold for every function:
 *  - It returns an ebb_status (or void if nothing can go wrong). Nothing throws across this
 *    boundary. After a status other than EBB_OK, ebb_last_error() has the message for this thread.
 *  - Outputs are written only on EBB_OK, unless the function says otherwise.
 *  - A struct that crosses begins with `size`: the caller sets it to the sizeof that it was compiled
 *    with, by EBB_INIT. A smaller (older) struct is accepted, missing fields read as zero; an
 *    unknown larger one too. A size that no version has (below 8, or cutting a field) is
 *    EBB_INVALID_ARGUMENT.
 *  - Handles, regions and contexts are 64-bit names below 2^53 (exact in a JavaScript number). Zero
 *    is never one. A stale or forged name is detected and answered with EBB_STALE_HANDLE.
 *  - Text is UTF-8. Text given to Ebb is copied.
 *
 * Threads: every function may be called from any thread; a context's callbacks run on the thread
 * that called Ebb, with no lock of Ebb's held. Inside a callback only ebb_orphan may be called for
 * the same context, except where a callback says otherwise.
 */
#ifndef EBB_H
#define EBB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define EBB_API
#else
#define EBB_API __attribute__((visibility("default")))
#endif

/* A struct of zeroes that says how large it is:
 *   ebb_context_options options = EBB_INIT(ebb_context_options); */
#ifdef __cplusplus
extern "C++" {
template <typename T>
inline T ebb_init() {
  T made = T();
  made.size = static_cast<uint32_t>(sizeof(T));
  return made;
}
}
#define EBB_INIT(type) ebb_init<type>()
#else
#define EBB_INIT(type) ((type){.size = sizeof(type)})
#endif

/* Grows when a function or a struct field is added; the library serves all older versions. */
#define EBB_ABI_VERSION 5

typedef enum ebb_status {
  EBB_OK = 0,
  EBB_INVALID_ARGUMENT = 1, /* never valid: a missing pointer, an unknown dtype, a bad size */
  EBB_STALE_HANDLE = 2,     /* the name has ended, or never was */
  EBB_WRONG_STATE = 3,      /* valid, but not now: a device still in use, the root closed */
  EBB_OUT_OF_MEMORY = 4,    /* no room, and the ladder found none; the message names the sites */
  EBB_UNSUPPORTED = 5,
  EBB_DEVICE_ERROR = 6,
  EBB_INTERNAL = 7 /* the books do not balance, or another broken invariant */
} ebb_status;

typedef uint64_t ebb_handle;  /* a tensor */
typedef uint64_t ebb_region;  /* a node of a context's ownership tree */
typedef uint64_t ebb_context; /* one host's world: a V8 isolate, a JVM */
typedef uint64_t ebb_hold;    /* a reference on a tensor's memory without a tensor */
typedef uint32_t ebb_device;  /* 0: none */
typedef uint32_t ebb_site;    /* an interned creation site; 0: unknown */

EBB_API uint32_t ebb_abi_version(void);
EBB_API const char* ebb_version(void);
/* Message of the last failure on this thread; "" if there was none. Valid until the next call. */
EBB_API const char* ebb_last_error(void);
/* Frees text that Ebb returned. Null is fine. */
EBB_API void ebb_text_free(char* text);

/* ---- Devices: process-wide, found by name ---------------------------------------------------- */

typedef enum ebb_device_kind {
  EBB_DEVICE_SYSTEM = 0, /* Ebb's pool over system memory */
  EBB_DEVICE_SIMULATED =
      1,                  /* Ebb's pool over a simulated asynchronous device of `capacity` bytes */
  EBB_DEVICE_FOREIGN = 2, /* memory that another runtime owns; Ebb keeps the books */
  EBB_DEVICE_CUDA = 4     /* "cuda:0": an NVIDIA GPU. EBB_UNSUPPORTED says why it is not there */
} ebb_device_kind;

typedef enum ebb_budget_mode {
  EBB_BUDGET_HARD = 0, /* beyond the budget a request fails (usual for Ebb's own memory) */
  EBB_BUDGET_SOFT = 1  /* beyond it one warning names the sites and the program goes on; collecting
                        * then takes up to a quarter of the time to hold 1.5 x what is reachable */
} ebb_budget_mode;

typedef struct ebb_device_options {
  uint32_t size;
  uint32_t kind;     /* ebb_device_kind */
  const char* name;  /* unique in the process, e.g. "cpu", "tfjs:wasm" */
  uint64_t capacity; /* simulated: bytes; otherwise 0 */
  uint64_t budget;   /* bytes; 0: none, on a GPU nine tenths of what is free */
  uint32_t mode;     /* ebb_budget_mode */
  uint32_t reserved;
} ebb_device_options;

/* Opens a device, or finds the one of that name (same kind; its budget is left as it is) and counts
 * one more opening. */
EBB_API ebb_status ebb_device_open(const ebb_device_options* options, ebb_device* device);
/* Undoes one opening. The last one closes the device: it waits for queued work, and gives its
 * memory back. EBB_WRONG_STATE while a tensor or memory of it is in use. From then on its name is
 * EBB_STALE_HANDLE wherever it is given; no other device ever has it. */
EBB_API ebb_status ebb_device_close(ebb_device device);
/* What is cached above a lowered budget goes back at once, what is in use when it has ended and
 * others are made. EBB_INVALID_ARGUMENT where Ebb's own memory comes in larger pieces than `bytes`
 * (system memory: 2 MB), so that nothing could ever be made. */
EBB_API ebb_status ebb_device_set_budget(ebb_device device, uint64_t bytes, uint32_t mode);

typedef struct ebb_device_info {
  uint32_t size;
  uint32_t kind;
  uint64_t budget;
  uint32_t mode;
  uint32_t reserved;
  uint64_t in_use;    /* bytes of live storages, all contexts; for a pool, in blocks */
  uint64_t committed; /* bytes taken from the system; foreign: equal to in_use */
  uint64_t peak_committed;
  uint64_t cached; /* committed and free */
  uint64_t largest_free;
  /* 1 - largest_free / free memory outside of small blocks' slabs; 0 if none */
  double fragmentation;
  uint64_t staging; /* pinned host memory that is kept for copies */
} ebb_device_info;
EBB_API ebb_status ebb_device_describe(ebb_device device, ebb_device_info* info);
/* Waits for queued work, and gives up to `bytes` of cached memory back to the system; `*trimmed`
 * (may be null) says how much. */
EBB_API ebb_status ebb_device_trim(ebb_device device, uint64_t bytes, uint64_t* trimmed);

/* What this process may use: physical memory, cgroup limits and address-space limits considered. */
EBB_API ebb_status ebb_memory_limit(uint64_t* bytes);
/* "2GB", "512 MiB", "1.5g", "1048576" -> bytes. GB and GiB both count in 1024s. */
EBB_API ebb_status ebb_parse_bytes(const char* text, uint64_t* bytes);

/* ---- Contexts -------------------------------------------------------------------------------- */

typedef enum ebb_collection { EBB_COLLECT_MINOR = 0, EBB_COLLECT_MAJOR = 1 } ebb_collection;

/* What `collect` returns where no collection ran: the host cannot collect now. */
#define EBB_CANNOT_COLLECT UINT64_MAX

typedef enum ebb_reason {
  EBB_ENDED_DISPOSED = 0,  /* the host said so */
  EBB_ENDED_REGION = 1,    /* its region closed */
  EBB_ENDED_RECLAIMED = 2, /* it was an orphan */
  EBB_ENDED_SHUTDOWN = 3   /* its context was destroyed */
} ebb_reason;

/* A foreign tensor that Ebb ended (region, reclaim): the host now frees it in its runtime. */
typedef struct ebb_ended {
  ebb_handle handle; /* already stale */
  uint64_t tag;      /* as given to ebb_tensor_adopt */
  uint64_t key;
  uint32_t device;
  uint32_t reason; /* ebb_reason */
  uint32_t last;   /* 1: no other handle shares this key any more */
  uint32_t reserved;
} ebb_ended;

typedef enum ebb_context_flags {
  EBB_CONTEXT_NO_MINOR =
      1, /* the host's collector has no minor collection that is cheaper (the JVM) */
  EBB_CONTEXT_THREAD = 4 /* `collect` and `end` are called on the thread that creates the context
                             * only (a V8 isolate's). Another thread that finds no room drains Ebb's
                             * own orphans, asks that thread, which collects at its next safe point,
                             * waits 100 ms for it, and fails. What another thread calls of safe
                             * points and collections drains Ebb's own orphans and no more */
} ebb_context_flags;

typedef struct ebb_context_options {
  uint32_t size;
  uint32_t flags; /* ebb_context_flags */
  const char* name;
  void* user; /* given to the callbacks */
  /* Makes the host's collector run, now, on this thread; returns what it cost in nanoseconds (0:
   * Ebb measures; EBB_CANNOT_COLLECT: it did not run). Called at safe points, and inside a call
   * that makes a tensor in Ebb's own memory where there is no room. May call ebb_orphan. Null: the
   * host cannot collect. */
  uint64_t (*collect)(void* user, ebb_collection kind);
  /* Foreign tensors that Ebb ended. Called at safe points and from ebb_region_close,
   * ebb_context_destroy only; the array is valid during the call. May call any function but
   * ebb_context_destroy of its own context. */
  void (*end)(void* user, const ebb_ended* ended, size_t count);
  /* One warning for a person to read. Null: printed to stderr. */
  void (*warn)(void* user, const char* message);
  double collect_share; /* most of the time for collections that nobody needs; 0: usual, 0.05 */

  /* Pacing: collections before any budget asks for them, run by ebb_safe_point. */
  uint64_t minor_step; /* a minor one each so many bytes of growth, for early reuse; 0: none */
  uint64_t major_step; /* a major one when what is alive has grown by this, and by half; 0: none */
  uint64_t name_bytes; /* a live tensor is as much pressure as so many bytes beside its own */
} ebb_context_options;

EBB_API ebb_status ebb_context_create(const ebb_context_options* options, ebb_context* context);
/* Ends everything in it (reason: shutdown). Returns when no thread is inside one of its callbacks
 * any more; after that none is called. Inside one of them: EBB_WRONG_STATE. Memory still held
 * (ebb_hold) comes back when released. */
EBB_API ebb_status ebb_context_destroy(ebb_context context);

/* ---- Tensors --------------------------------------------------------------------------------- */

typedef enum ebb_dtype {
  EBB_FLOAT32 = 1,
  EBB_INT32 = 2,
  EBB_BOOL = 3,
  EBB_COMPLEX64 = 4,
  EBB_FLOAT64 = 5,
  EBB_INT64 = 6,
  EBB_UINT8 = 7,
  EBB_FLOAT16 = 8,
  EBB_BFLOAT16 = 9,
  EBB_INT8 = 10,
  EBB_STRING = 11 /* foreign tensors only */
} ebb_dtype;

#define EBB_MAX_RANK 6

typedef struct ebb_tensor_spec {
  uint32_t size;
  ebb_device device;
  uint32_t dtype;
  uint32_t rank;
  const int64_t* dims;
  ebb_region region; /* 0: the context's root */
  ebb_site site;
  uint32_t stream; /* the device's stream that will write it; 0: the default stream */
} ebb_tensor_spec;

/* A new tensor in Ebb's own memory, its content unspecified. A safe point: orphans of Ebb's own
 * memory are drained and, if the device has no room, the ladder runs. */
EBB_API ebb_status ebb_tensor_create(ebb_context context, const ebb_tensor_spec* spec,
                                     ebb_handle* handle);
/* Another tensor over the same memory: the base's own bytes or fewer, from `byte_offset`, which
 * suits the dtype. spec->device and stream are ignored. Ending the base does not end the view. */
EBB_API ebb_status ebb_tensor_view(ebb_context context, ebb_handle base, uint64_t byte_offset,
                                   const ebb_tensor_spec* spec, ebb_handle* handle);

typedef enum ebb_adopt_flags {
  EBB_ADOPT_UNWATCHED = 1 /* no death notice will come for it; booked apart in ebb_memory */
} ebb_adopt_flags;

typedef struct ebb_foreign_spec {
  uint32_t size;
  ebb_device device; /* a foreign device */
  uint64_t key;      /* names the data: tensors with the same one share a storage. 0: with none */
  uint64_t bytes;    /* of the data; the first adoption of a key decides */
  uint64_t tag;      /* the host's own name for the tensor, given back in ebb_ended */
  uint32_t dtype;    /* for reports; 0: unknown */
  uint32_t rank;     /* for reports; dims beyond EBB_MAX_RANK are not kept */
  const int64_t* dims;
  ebb_region region;
  ebb_site site;
  uint32_t flags; /* ebb_adopt_flags */
} ebb_foreign_spec;

/* A handle for a tensor whose memory another runtime owns. Never collects and never calls back. */
EBB_API ebb_status ebb_tensor_adopt(ebb_context context, const ebb_foreign_spec* spec,
                                    ebb_handle* handle);
/* The bytes behind a foreign tensor changed (moved to another backend, resized): every tensor with
 * its key follows. `device` 0: unchanged. */
EBB_API ebb_status ebb_tensor_rebook(ebb_context context, ebb_handle handle, ebb_device device,
                                     uint64_t bytes);
/* Where it was made, for a host that learns it after the birth (the results of an operation). */
EBB_API ebb_status ebb_tensor_made_at(ebb_context context, ebb_handle handle, ebb_site site);
/* Ends a tensor (reason: disposed). A tensor that has already ended: EBB_OK, nothing happens. */
EBB_API ebb_status ebb_tensor_dispose(ebb_context context, ebb_handle handle);
/* Ends tensors that the host has ended itself, with the reason it had: disposed, region (a scope or
 * a manager of its own closed), reclaimed (it found them dead and freed them). So `end` is not
 * called for them. Names that have ended, or never were, are skipped. Cheaper than one by one, and
 * no other thread waits for more than a few hundred of them. */
EBB_API ebb_status ebb_tensors_end(ebb_context context, const ebb_handle* handles, size_t count,
                                   uint32_t reason); /* ebb_reason */

typedef struct ebb_tensor_info {
  uint32_t size;
  ebb_device device;
  uint32_t dtype;
  uint32_t rank;
  int64_t dims[EBB_MAX_RANK];
  uint64_t bytes;    /* of the tensor; foreign: of its data */
  uint64_t key, tag; /* foreign */
  ebb_region region;
  ebb_site site;
  uint32_t orphaned; /* 1: its death notice has come */
  uint32_t strided;  /* 1: a view whose elements do not lie in row-major order; see below */
  int64_t strides[EBB_MAX_RANK]; /* in elements, one an axis; foreign: 0 */
} ebb_tensor_info;
/* Some results of operations (transposes, slices, parts of complex numbers) are strided views: they
 * share the memory of their operand. Nobody has to know: reading gives the elements in row-major
 * order, and a tensor that is held, or that a view is made of, is copied to memory of its own
 * first, and is dense from then on. */
EBB_API ebb_status ebb_tensor_describe(ebb_context context, ebb_handle handle,
                                       ebb_tensor_info* info);

/* A reference on the tensor's memory: valid, with its data, until released, whatever ends the
 * tensor. The hold's name alone counts then, whichever context is given with it. */
EBB_API ebb_status ebb_hold_acquire(ebb_context context, ebb_handle handle, ebb_hold* hold);
EBB_API ebb_status ebb_hold_data(ebb_context context, ebb_hold hold, void** data, uint64_t* bytes);
/* A hold that has already been released: EBB_OK, nothing happens. Works after the context ended. */
EBB_API ebb_status ebb_hold_release(ebb_context context, ebb_hold hold);

/* Host memory to a tensor of Ebb's own and back, dense and in row-major order. `bytes` must be the
 * tensor's. */
EBB_API ebb_status ebb_tensor_write(ebb_context context, ebb_handle handle, const void* data,
                                    uint64_t bytes);
EBB_API ebb_status ebb_tensor_read(ebb_context context, ebb_handle handle, void* data,
                                   uint64_t bytes);

typedef uint64_t ebb_read; /* a read under way */

/* A read that nobody waits for: the values as they are after all work queued so far. The tensor may
 * end meanwhile. */
EBB_API ebb_status ebb_read_begin(ebb_context context, ebb_handle handle, ebb_read* read,
                                  uint64_t* bytes);
/* Never waits. EBB_DEVICE_ERROR where the device was lost. */
EBB_API ebb_status ebb_read_poll(ebb_read read, uint32_t* done);
/* The values, as many bytes as the tensor has; ends the read. Waits where it is not done. */
EBB_API ebb_status ebb_read_end(ebb_read read, void* data, uint64_t bytes);
/* Ends it without. One that has already ended: EBB_OK, nothing happens. */
EBB_API ebb_status ebb_read_drop(ebb_read read);

/* ---- Operations ------------------------------------------------------------------------------ */

typedef struct ebb_op_result {
  ebb_handle handle;
  uint32_t dtype; /* ebb_dtype */
  uint32_t rank;
  int64_t shape[8]; /* the first `rank` are written */
} ebb_op_result;

/* The id of an operation by its name (TensorFlow.js's kernel names where there is one); 0: none of
 * that name. Ids never change their meaning. */
EBB_API uint32_t ebb_op_find(const char* name);
/* Changes with any change to the table of operations; at most 2^53. A host that was built with
 * another one must not run operations. */
EBB_API uint64_t ebb_op_table_hash(void);
/* Runs an operation of Ebb's own. `attributes` are flat, by position in the table: a list is its
 * length followed by its values, a dtype an ebb_dtype, a boolean 0 or 1. An optional input that is
 * left out is 0. The results are new tensors of the context's root region. EBB_UNSUPPORTED where
 * this build has no kernel for it; on any error nothing is left behind. */
EBB_API ebb_status ebb_op_run(ebb_context context, ebb_device device, uint32_t op,
                              const ebb_handle* inputs, size_t input_count,
                              const double* attributes, size_t attribute_count,
                              ebb_op_result* results, size_t result_capacity, size_t* result_count);

/* A copy of a tensor on another device of Ebb's own (or on its own). */
EBB_API ebb_status ebb_tensor_copy_to(ebb_context context, ebb_handle handle, ebb_device device,
                                      ebb_op_result* result);

/* ---- Gradients ------------------------------------------------------------------------------- */

typedef uint64_t ebb_tape; /* of the thread that opened it; no two ever have the same name */

/* From now on this thread's operations on watched tensors of the context, and on what depends on
 * them, are noted. Tapes may be nested. While an operation is under way, that is in a callback of
 * some context's that it called, this thread's tapes and programs hear nothing, and none of them can
 * be opened, passed, ended or closed: EBB_WRONG_STATE. */
EBB_API ebb_status ebb_tape_open(ebb_context context, ebb_tape* tape);
typedef enum ebb_tape_flags {
  /* Two names over the same memory are two tensors, unless one was copied from the other by an
   * operation since: one may be watched, the other a constant. */
  EBB_TAPE_BY_NAME = 1,
  /* Gradients are those of TensorFlow.js where it has others: where a function bends (-1 for the
   * absolute value of 0), among equal elements (each maximum gets the whole), in padding, and in
   * what becomes of infinities and NaN. */
  EBB_TAPE_OF_TENSORFLOW_JS = 2
} ebb_tape_flags;
/* The same, otherwise than usual: flags are added to one another. */
EBB_API ebb_status ebb_tape_open_with(ebb_context context, uint32_t flags, ebb_tape* tape);
/* Gradients by this tensor can be asked for; its dtype is a floating one or complex64. */
EBB_API ebb_status ebb_tape_watch(ebb_tape tape, ebb_handle handle);
/* It notes nothing more. */
EBB_API ebb_status ebb_tape_stop(ebb_tape tape);
/* Once: how the outputs, each weighted by its seed, change with the wanted tensors (watched ones, or
 * results that were noted). `seeds` null: ones. The gradients are new tensors of the context's root
 * region; 0 where the outputs do not depend on it. EBB_UNSUPPORTED where an operation on the way has
 * no gradient; on any error nothing is left behind. Stops the tape. */
EBB_API ebb_status ebb_tape_backward(ebb_tape tape, ebb_device device, const ebb_handle* outputs,
                                     size_t output_count, const ebb_handle* seeds,
                                     const ebb_handle* wanted, size_t wanted_count,
                                     ebb_handle* gradients);
/* Lets go of what it keeps. One that is closed already, or another thread's: EBB_OK, nothing
 * happens. */
EBB_API ebb_status ebb_tape_close(ebb_tape tape);

/* ---- Recorded programs ----------------------------------------------------------------------- */

typedef uint64_t ebb_program; /* of the thread that records it; no two ever have the same name */

typedef enum ebb_program_flags {
  EBB_PROGRAM_NO_FOLDING = 1, /* what operations make of constants alone is computed in each run */
  EBB_PROGRAM_BY_NAME = 2,   /* two names over the same memory are two tensors: one may be an input,
                               * the other captured */
  EBB_PROGRAM_NO_GRAPHS = 4, /* on a GPU each operation is launched by itself */
  EBB_PROGRAM_NO_FUSING = 8, /* elementwise operations that follow one another are run one by one */
  EBB_PROGRAM_NO_ABSORBING = 16, /* matrices are transposed before they are multiplied */
  EBB_PROGRAM_NO_JOINING = 32, /* products and convolutions take no bias and activation that follow
                                * them: all results are to the bit those of the operations */
  EBB_PROGRAM_KEEPING =
      64, /* what depends on captured tensors alone (weights as products take them)
                             * is made in the second run with the same ones, and kept until a run is
                             * given others. Nobody writes into a captured tensor then */
  EBB_PROGRAM_OVERWRITING = 128, /* an optimizer's update that comes last, when nothing can fail any
                                 * more, writes over tensors that the caller replaces after each run
                                 * (ebb_program_replaces) and that are alone in their memory */
  EBB_PROGRAM_NO_SHARING = 256,  /* on the CPU, no threads are called to help when a run begins */
  EBB_PROGRAM_NO_DROPPING = 512  /* what no result needs is run as well */
} ebb_program_flags;

/* From now on this thread's operations in the context are noted, until ebb_program_end. `inputs` are
 * given anew to each run. A tensor that is used and was not declared is captured: it is given to each
 * run after the inputs. */
EBB_API ebb_status ebb_program_begin(ebb_context context, const ebb_handle* inputs,
                                     size_t input_count, uint32_t flags, ebb_program* program);
/* One more input, that was not there when it began. */
EBB_API ebb_status ebb_program_input(ebb_program program, ebb_handle handle);
/* The same values in each run (ones that the host wrote): the program keeps the tensor. */
EBB_API ebb_status ebb_program_constant(ebb_program program, ebb_handle handle);

/* With EBB_PROGRAM_OVERWRITING: after each run the caller ends what it gives in the place of this tensor, by its
 * name while recording, and has an output instead. One that the program does not use: EBB_OK, nothing happens. */
EBB_API ebb_status ebb_program_replaces(ebb_program program, ebb_handle handle);

typedef struct ebb_program_info {
  uint32_t size;
  uint32_t reserved;
  uint64_t steps; /* operations of a run */
  uint64_t inputs, captured, outputs;
  uint64_t constants; /* tensors that it keeps */
} ebb_program_info;

/* What was noted and leads to the outputs is the program. On an error it is as if it had been freed:
 * nothing is noted any more, and it cannot be run. */
EBB_API ebb_status ebb_program_end(ebb_program program, const ebb_handle* outputs,
                                   size_t output_count, ebb_program_info* info);
/* The captured tensors, by the names they had while recording (they may have ended since), in the
 * order in which ebb_program_run takes them. */
EBB_API ebb_status ebb_program_captured(ebb_program program, ebb_handle* handles, size_t capacity);
/* Runs all of it. `given`: the inputs, then the captured tensors, each of the recorded dtype and
 * shape; the results, as many as there are outputs, are new tensors of the context's root region.
 * EBB_WRONG_STATE where a shape that depends on values is another than it was. On any error nothing
 * is left behind, and all that was given is as it was: operations do not write into their operands, and
 * with EBB_PROGRAM_OVERWRITING an update does only when no operation can fail any more. */
EBB_API ebb_status ebb_program_run(ebb_program program, ebb_device device, const ebb_handle* given,
                                   size_t given_count, ebb_op_result* results, size_t result_count);
/* After a run that failed, what it had made before: the operations one by one as they were recorded, up to
 * the first that fails or needs a tensor that is given as 0. EBB_OK; a result that was not made by then is
 * 0. A function that looked at a value goes another way where that is another one, and might not have failed
 * there: so its host can compare. */
EBB_API ebb_status ebb_program_run_partly(ebb_program program, ebb_device device,
                                          const ebb_handle* given, size_t given_count,
                                          ebb_op_result* results, size_t result_count);
/* Also one that is being recorded. One that is freed already, or another thread's: EBB_OK, nothing
 * happens. */
EBB_API ebb_status ebb_program_free(ebb_program program);

/* ---- Regions --------------------------------------------------------------------------------- */

/* parent 0: the root. `name` (may be null) is for reports; it is kept for ever, so give one for
 * each place in the program, not one for each region. */
EBB_API ebb_status ebb_region_open(ebb_context context, ebb_region parent, const char* name,
                                   ebb_region* region);
/* Ends the region, its sub-regions and what they own (reason: region). Closing twice: EBB_OK,
 * nothing happens. The root cannot be closed. */
EBB_API ebb_status ebb_region_close(ebb_context context, ebb_region region);
/* Gives a tensor to a region. 0: to the root, where it lives until disposed, reclaimed, or
 * shutdown. */
EBB_API ebb_status ebb_region_attach(ebb_context context, ebb_region region, ebb_handle handle);
/* What a scope returns outlives it. In the root it stays where it is. */
EBB_API ebb_status ebb_region_move_to_parent(ebb_context context, ebb_handle handle);
/* The region that ends first among those of the handles: the rule under which ownership does not
 * depend on the order of operands. */
EBB_API ebb_status ebb_region_shortest_lived(ebb_context context, const ebb_handle* handles,
                                             size_t count, ebb_region* region);

/* ---- Reclaim --------------------------------------------------------------------------------- */

/* Process-wide, off at first, at any time, both ways. Orphans noticed while it is off wait. */
EBB_API void ebb_reclaim_set(int on);
EBB_API int ebb_reclaim_get(void);

/* The death notice: the host object of this tensor is gone. Any thread, also inside a collection:
 * it takes no lock, allocates nothing and never waits. Stale handles and second notices do nothing.
 */
EBB_API void ebb_orphan(ebb_handle handle);

typedef struct ebb_drained {
  uint32_t size;
  uint32_t collected; /* collections that ran inside */
  uint64_t tensors;   /* orphans ended */
  uint64_t bytes;     /* that came back with them */
} ebb_drained;

typedef enum ebb_safe_point_flags {
  EBB_SAFE_POINT_SCOPED = 1 /* what is made now will end with a scope of the host's: the pacing
                             * waits for much more growth */
} ebb_safe_point_flags;

/* The host promises that no kernel of its own is running: drains orphans, foreign ones included,
 * keeps foreign devices under their budgets, and runs the pacing. `upcoming` bytes of `device` are
 * about to be born, or not booked yet; both may be 0. EBB_OUT_OF_MEMORY only for a hard budget.
 * `drained` may be null. Costs a few nanoseconds when there is nothing to do. */
EBB_API ebb_status ebb_safe_point(ebb_context context, ebb_device device, uint64_t upcoming,
                                  uint32_t flags, /* ebb_safe_point_flags */
                                  ebb_drained* drained);
/* A look from a timer of the host's, which it arms when something is born: a program that went
 * quiet comes by no safe point. Drains, and collects once it is quiet. `*again_ms`: when to look
 * again; 0: not before the next birth. `drained` may be null. */
EBB_API ebb_status ebb_idle(ebb_context context, uint32_t* again_ms, ebb_drained* drained);
/* Before a walk over a list of the host's that dead tensors lengthen (the arrays of a manager).
 * `list` names it, any number but 0; `entries` is what the last walk over it visited, 0: there was
 * none. Collects where such walks have cost more than a collection does. `drained` may be null. */
EBB_API ebb_status ebb_walk(ebb_context context, uint64_t list, uint64_t entries,
                            ebb_drained* drained);
/* Collects (kind: ebb_collection) and drains now, whatever the budget says: for idle time and
 * tests. Rations itself only if `rationed`: then it does nothing when nothing was born since the
 * last one or the share is used up. */
EBB_API ebb_status ebb_collect(ebb_context context, uint32_t kind, int rationed,
                               ebb_drained* drained);
/* The whole ladder for a foreign runtime that ran out: EBB_OK if anything came back, otherwise
 * EBB_OUT_OF_MEMORY with the message for the user. */
EBB_API ebb_status ebb_make_room(ebb_context context, ebb_device device, uint64_t bytes,
                                 ebb_drained* drained);

/* ---- The books ------------------------------------------------------------------------------- */

typedef struct ebb_memory {
  uint32_t size;
  uint32_t reserved;
  /* tensors: created = live + disposed + region_ended + reclaimed + shutdown */
  uint64_t created, live, disposed, region_ended, reclaimed, shutdown;
  uint64_t unwatched; /* live, adopted with EBB_ADOPT_UNWATCHED */
  uint64_t orphans;   /* live, noticed, not yet given back */
  uint64_t peak_live, peak_orphans;
  /* bytes of storages (data shared by several tensors counts once) */
  uint64_t created_bytes, live_bytes, disposed_bytes, region_ended_bytes, reclaimed_bytes,
      shutdown_bytes;
  uint64_t peak_live_bytes;
  uint64_t storages;         /* live, with a handle */
  uint64_t held, held_bytes; /* storages without a handle: holds, reads under way */
  uint64_t regions;          /* open, the root not counted */
  uint64_t collections_minor, collections_major;
  uint64_t collect_ns, collect_max_ns;
  /* how long the oldest death notice of a drain had waited: in the last drain, and at most */
  uint64_t lag_last_ns, lag_max_ns;
  /* of system memory: what the records of tensors, data and regions need, on all devices */
  uint64_t record_bytes;
} ebb_memory;

/* One context's books; device 0: all devices. context 0: all contexts, ended ones included. */
EBB_API ebb_status ebb_memory_read(ebb_context context, ebb_device device, ebb_memory* memory);

/* The law of the ledger, over everything: EBB_OK, or EBB_INTERNAL naming the sum that is off. Exact
 * when no other thread is inside Ebb. */
EBB_API ebb_status ebb_audit(void);

typedef enum ebb_trace {
  EBB_TRACE_OFF = 0,
  EBB_TRACE_EVENTS = 1, /* births and ends in a ring */
  EBB_TRACE_SITES = 2   /* the host should also give creation sites */
} ebb_trace;
EBB_API ebb_status ebb_trace_set(uint32_t level); /* ebb_trace */

/* `text`: one frame a line, innermost first. The same text gives the same site. */
EBB_API ebb_status ebb_site_intern(const char* text, ebb_site* site);

typedef struct ebb_report_options {
  uint32_t size;
  uint32_t top;  /* sites; 0: ten */
  uint32_t json; /* 1: JSON, otherwise text */
  uint32_t reserved;
} ebb_report_options;
/* Who holds what, by creation site. context 0: all. `options` null: ten sites, as text. *text is
 * freed with ebb_text_free. docs/report.md describes the JSON. */
EBB_API ebb_status ebb_report(ebb_context context, const ebb_report_options* options, char** text);

/* Everything the books know, as docs/snapshot.md describes. */
EBB_API ebb_status ebb_snapshot_write(const char* path);

/* ---- Recording ------------------------------------------------------------------------------- */

typedef enum ebb_record_mode {
  EBB_RECORD_OFF = 0,
  EBB_RECORD_COUNTERS = 1, /* what devices hold, ten times a second */
  EBB_RECORD_SAMPLED = 2,  /* and each birth and end; where ebb_record_wants_site says so, with the
                            * place that made it */
  EBB_RECORD_FULL = 3      /* each with its place */
} ebb_record_mode;

typedef struct ebb_record_options {
  uint32_t size;
  uint32_t mode;      /* ebb_record_mode, not off */
  const char* path;   /* the file, which is replaced; docs/recording.md describes it. Null: one of
                          * Ebb's own, of 64 MB at most, that goes with the recording: see ebb_live_start */
  const char* name;   /* what is recorded, for people; may be null */
  uint64_t max_bytes; /* of the file and its older segments; 0: no limit */
  uint64_t sample_bytes; /* a stack for about each so many bytes; 0: 512 KB */
} ebb_record_options;

/* One recording a process. The program never waits for it: what cannot be written in time is lost,
 * and the recording says so. EBB_WRONG_STATE while there is one, EBB_DEVICE_ERROR where the file
 * cannot be written. It ends with ebb_record_stop, or with the process; a process that is killed
 * leaves what was written until a tenth of a second before. The child of a fork has none. */
EBB_API ebb_status ebb_record_start(const ebb_record_options* options);
/* At any time. EBB_WRONG_STATE without a recording. */
EBB_API ebb_status ebb_record_set_mode(uint32_t mode); /* ebb_record_mode, not off */
/* A line of text at this moment: an epoch, a request. */
EBB_API ebb_status ebb_record_mark(const char* text);
/* EBB_OK also without a recording. EBB_DEVICE_ERROR where it had to give up, and why. */
EBB_API ebb_status ebb_record_stop(void);
/* Whether a tensor of so many bytes is one whose place the host should give. Cheap; false without a
 * recording. */
EBB_API int ebb_record_wants_site(uint64_t bytes);
/* What the host's collector manages now, for the counters of the recording. */
EBB_API void ebb_record_host_heap(uint64_t bytes);

typedef struct ebb_record_info {
  uint32_t size;
  uint32_t mode; /* ebb_record_mode; off: there is none, or it gave up */
  uint64_t bytes, events, lost;
  uint64_t sample_bytes;
  uint32_t segments;
  uint32_t failed; /* 1: it gave up; ebb_record_stop says why */
} ebb_record_info;
EBB_API ebb_status ebb_record_read(ebb_record_info* info);
/* What holds the tensors of a site, as the host found out, outermost first:
 * "global.cache (Map) -> .features (Array)". Reports show it. 4,096 bytes of it at most. */
EBB_API ebb_status ebb_record_holder(uint32_t site, const char* text);

/* ---- Live: viewers of a running process (ebb top, ebb view --live, ebb report PID) ------------- */

typedef enum ebb_asked {
  EBB_ASKED_COLLECT = 1, /* collect, when it suits */
  EBB_ASKED_HOLDERS = 2 /* find out what holds the tensors of places that grow: ebb_record_holder */
} ebb_asked;

typedef struct ebb_live_options {
  uint32_t size;
  uint32_t reserved; /* 0 */
  /* What a viewer wishes (ebb_asked). Called on the recorder's thread: pass it on to one of your own
   * and return at once; recording and live functions refuse with EBB_WRONG_STATE in it. May be null. */
  void (*asked)(void* user, uint32_t what);
  void* user;
} ebb_live_options;

/* From now on viewers of the same user may attach to the recording of this process, at a socket in a
 * folder that is the user's own. They read its file; the program does not wait for them. `options`
 * may be null. EBB_WRONG_STATE without a recording, or where they may already; EBB_DEVICE_ERROR where
 * the folder is another's. Ends with the recording. */
EBB_API ebb_status ebb_live_start(const ebb_live_options* options);
/* EBB_OK also where nobody may attach. When it returns, `asked` is called no more. */
EBB_API ebb_status ebb_live_stop(void);

typedef struct ebb_live_info {
  uint32_t size;
  uint32_t on;
  uint64_t answered; /* questions of viewers */
  char path[256];    /* the socket; cut short where it is longer */
} ebb_live_info;
EBB_API ebb_status ebb_live_read(ebb_live_info* info);

#ifdef __cplusplus
}
#endif

#endif /* EBB_H */
