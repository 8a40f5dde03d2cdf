/* The boundary between libebb and its CUDA plug-in, libebb_cuda.so: one exported function that
 * gives a table of functions. Plain C on both sides, so that the two may come from different
 * compilers.
 *
 * Who does what:
 *   libebb      opens the plug-in, compares versions, keeps books and pool, decides what an
 * operation means, and queues it: a call goes down with checked operands and finished outputs; the
 * plug-in knows CUDA: address ranges, streams, events, copies, kernels, cuBLASLt and cuDNN.
 *
 * Errors: a function that can fail returns an ebb_cuda_status; last_error() has the text for this
 * thread. EBB_CUDA_LOST is for ever: an error that CUDA calls sticky. From then on every function
 * of that device returns it; functions that cannot fail do nothing.
 *
 * Threads: every function may be called from any thread at once, unless it says otherwise. */
#ifndef EBB_BACKENDS_CUDA_PLUGIN_H
#define EBB_BACKENDS_CUDA_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EBB_CUDA_PLUGIN_VERSION 2u
#define EBB_CUDA_MAX_RANK 8

typedef enum ebb_cuda_status {
  EBB_CUDA_OK = 0,
  EBB_CUDA_NO_MEMORY = 1, /* nothing changed; run the ladder and try again */
  EBB_CUDA_NO_KERNEL = 2, /* this plug-in has none for the operation and these dtypes */
  EBB_CUDA_BAD_DATA = 3,  /* what only the data could tell: an index out of range */
  EBB_CUDA_MISSING = 4,   /* a library is not there; the text names it and how to get it */
  EBB_CUDA_FAILED = 5,    /* CUDA refused; the device goes on */
  EBB_CUDA_LOST = 6       /* the device is gone for this process */
} ebb_cuda_status;

typedef struct ebb_cuda_device ebb_cuda_device; /* opaque; one for each GPU */

typedef struct ebb_cuda_device_info {
  char name[96]; /* "NVIDIA H200" */
  int32_t compute_major, compute_minor;
  uint64_t total_bytes;
  uint64_t free_bytes; /* at the time of the call */
  uint64_t granule;    /* of commit */
} ebb_cuda_device_info;

/* A tensor as a kernel sees it. Strides are in elements; dense ones are row-major. */
typedef struct ebb_cuda_tensor {
  void* data;     /* device memory; null: an optional input that was left out */
  uint32_t dtype; /* ebb_dtype */
  uint32_t rank;
  uint32_t dense; /* 1: strides are the row-major ones */
  uint32_t reserved;
  int64_t dims[EBB_CUDA_MAX_RANK];
  int64_t strides[EBB_CUDA_MAX_RANK];
} ebb_cuda_tensor;

typedef struct ebb_cuda_call ebb_cuda_call;

/* What a kernel may ask of libebb, on the calling thread only, before or between launches. */
typedef struct ebb_cuda_services {
  /* The next output, where its shape depends on data. Null: no memory. */
  ebb_cuda_tensor* (*make)(ebb_cuda_call* call, uint32_t dtype, uint32_t rank, const int64_t* dims);
  /* Device memory until the call's work is done, in the books. Null: no memory. */
  void* (*workspace)(ebb_cuda_call* call, uint64_t bytes);
} ebb_cuda_services;

struct ebb_cuda_call {
  uint32_t size; /* of this struct */
  uint32_t op;   /* id in the table of operations */
  ebb_cuda_device* device;
  uint32_t stream; /* as create_stream gave it; 0: the default stream */
  uint32_t input_count;
  uint32_t output_count;
  uint32_t attribute_count;
  const ebb_cuda_tensor* inputs;
  ebb_cuda_tensor* outputs;
  const double* attributes;          /* flat, as over the C ABI */
  const uint16_t* attribute_offsets; /* where each begins */
  const void* params; /* what the meaning worked out: the family's struct of src/ops/params */
  uint64_t param_bytes;
  const ebb_cuda_services* services;
  void* owner; /* libebb's own */
};

/* Work captured once and replayed: a CUDA graph. */
typedef struct ebb_cuda_graph ebb_cuda_graph;

typedef struct ebb_cuda_table {
  uint32_t size;          /* of this struct */
  uint32_t version;       /* EBB_CUDA_PLUGIN_VERSION */
  uint64_t op_table_hash; /* ebb_op_table_hash() of the build; must be libebb's */
  uint64_t params_hash;   /* of the layout of src/ops/params; must be libebb's */

  const char* (*last_error)(void);

  /* ---- devices */
  ebb_cuda_status (*device_count)(
      int32_t* count); /* EBB_CUDA_MISSING: no driver, or too old; says why */
  ebb_cuda_status (*device_open)(int32_t ordinal, ebb_cuda_device** device);
  void (*device_close)(ebb_cuda_device* device); /* waits for its work */
  ebb_cuda_status (*device_describe)(ebb_cuda_device* device, ebb_cuda_device_info* info);
  /* EBB_CUDA_LOST once a sticky error was seen, with its text in last_error(). Costs no device
   * call. */
  ebb_cuda_status (*device_state)(ebb_cuda_device* device);

  /* ---- the heap seam (ebb/memory/heap.hpp), function for function */
  void* (*reserve)(ebb_cuda_device* device, uint64_t bytes);
  void (*unreserve)(ebb_cuda_device* device, void* base, uint64_t bytes);
  int (*commit)(ebb_cuda_device* device, void* base, uint64_t bytes);
  void (*decommit)(ebb_cuda_device* device, void* base, uint64_t bytes);
  ebb_cuda_status (*create_stream)(ebb_cuda_device* device, uint32_t* stream);
  void (*destroy_stream)(ebb_cuda_device* device, uint32_t stream);
  uint64_t (*submitted)(ebb_cuda_device* device, uint32_t stream);
  int (*record)(ebb_cuda_device* device, uint32_t stream, uint64_t* ticket); /* 0: refused */
  int (*done)(ebb_cuda_device* device, uint32_t stream, uint64_t ticket);
  void (*wait)(ebb_cuda_device* device, uint32_t stream, uint64_t ticket);
  void (*order)(ebb_cuda_device* device, uint32_t stream, uint32_t after_stream, uint64_t ticket);

  /* ---- copies, queued on a stream; host memory that is not pinned goes through pooled pinned
   * buffers */
  ebb_cuda_status (*copy_in)(ebb_cuda_device* device, uint32_t stream, void* to, const void* host,
                             uint64_t bytes); /* host may be reused at return */
  ebb_cuda_status (*copy_out)(ebb_cuda_device* device, uint32_t stream, void* host,
                              const void* from, uint64_t bytes); /* returns when it is there */
  ebb_cuda_status (*copy_out_begin)(ebb_cuda_device* device, uint32_t stream, void* pinned,
                                    const void* from,
                                    uint64_t bytes); /* queued; poll with record and done */
  ebb_cuda_status (*copy_within)(ebb_cuda_device* device, uint32_t stream, void* to,
                                 const void* from, uint64_t bytes);
  /* Elements of 1, 2, 4, 8 or 16 bytes, strides in elements, to row-major order. */
  ebb_cuda_status (*pack)(ebb_cuda_device* device, uint32_t stream, void* to, const void* from,
                          uint32_t element, uint32_t rank, const int64_t* dims,
                          const int64_t* strides);
  void* (*pinned_allocate)(ebb_cuda_device* device, uint64_t bytes);
  void (*pinned_free)(ebb_cuda_device* device, void* pinned);
  uint64_t (*pinned_bytes)(ebb_cuda_device* device); /* committed by the pinned pool */

  /* ---- operations: queued on call->stream, done when the next operation on it begins */
  int (*has_kernel)(uint32_t op);
  ebb_cuda_status (*run)(ebb_cuda_call* call);

  /* ---- capture and replay; while a stream captures, run() on it records instead of queueing */
  ebb_cuda_status (*capture_begin)(ebb_cuda_device* device, uint32_t stream);
  ebb_cuda_status (*capture_end)(ebb_cuda_device* device, uint32_t stream, ebb_cuda_graph** graph);
  ebb_cuda_status (*graph_replay)(ebb_cuda_graph* graph, uint32_t stream);
  void (*graph_destroy)(ebb_cuda_graph* graph);

  /* ---- choices: "matmul_math" = "f32" | "tf32" | "bf16"; "conv_math" likewise */
  ebb_cuda_status (*set_option)(ebb_cuda_device* device, const char* name, const char* value);
} ebb_cuda_table;

/* The only symbol. Null where `version` is not one this plug-in speaks. */
typedef const ebb_cuda_table* (*ebb_cuda_plugin_function)(uint32_t version);
const ebb_cuda_table* ebb_cuda_plugin(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif
