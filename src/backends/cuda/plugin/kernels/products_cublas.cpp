// Products by cuBLASLt. The algorithm is its first proposal for a shape, asked for once.
//
// cuBLASLt counts columns first, so a row-major product is asked for as its transpose: the
// right-hand operand comes first, rows and columns change places.
#include <bit>
#include <utility>

#include "backends/cuda/plugin/device_state.hpp"
#include "backends/cuda/plugin/kernels/cublas_library.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/products.hpp"
#include "backends/cuda/plugin/kernels/shape_cache.hpp"

namespace ebb::cuda {
namespace {

constexpr std::uint64_t kMostWorkspace = std::uint64_t{32} << 20;

// A description of cuBLASLt's, destroyed with its owner.
template <typename Handle, auto kDestroy>
class Description {
 public:
  Description() = default;
  Description(Description&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Description& operator=(Description&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Description() {
    if (handle_ != nullptr) (cublas_functions()->*kDestroy)(handle_);
  }
  Handle* place() noexcept { return &handle_; }
  operator Handle() const noexcept { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using Operation = Description<cublasLtMatmulDesc_t, &CublasFunctions::MatmulDescDestroy>;
using Layout = Description<cublasLtMatrixLayout_t, &CublasFunctions::MatrixLayoutDestroy>;
using Preference =
    Description<cublasLtMatmulPreference_t, &CublasFunctions::MatmulPreferenceDestroy>;

struct Plan {
  Operation operation;
  Layout a, b, c;
  cublasLtMatmulAlgo_t algorithm{};
  std::uint64_t workspace = 0;
  bool found = false;
};

struct Types {
  cudaDataType_t data;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};

Types types_of(DType dtype, Math math) {
  switch (dtype) {
    case DType::kComplex64:
      return {CUDA_C_32F, CUBLAS_COMPUTE_32F, CUDA_C_32F};
    case DType::kFloat64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case DType::kFloat16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case DType::kBfloat16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    default:
      return {CUDA_R_32F,
              math == Math::kTf32   ? CUBLAS_COMPUTE_32F_FAST_TF32
              : math == Math::kBf16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                                    : CUBLAS_COMPUTE_32F,
              CUDA_R_32F};
  }
}

template <typename T>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t name, const T& value) {
  check_cublas(cublas_functions()->MatmulDescSetAttribute(operation, name, &value, sizeof(value)),
               "a product's attribute");
}

template <typename T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t name, const T& value) {
  check_cublas(
      cublas_functions()->MatmulPreferenceSetAttribute(preference, name, &value, sizeof(value)),
      "a product's preference");
}

Layout layout_of(cudaDataType_t type, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                 std::int64_t count, std::int64_t stride) {
  Layout made;
  check_cublas(
      cublas_functions()->MatrixLayoutCreate(made.place(), type, static_cast<std::uint64_t>(rows),
                                             static_cast<std::uint64_t>(columns), ld),
      "a matrix");
  if (count > 1) {
    const auto many = static_cast<std::int32_t>(count);
    check_cublas(cublas_functions()->MatrixLayoutSetAttribute(
                     made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &many, sizeof(many)),
                 "a batch");
    check_cublas(cublas_functions()->MatrixLayoutSetAttribute(
                     made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)),
                 "a batch's stride");
  }
  return made;
}

// Up to what the pool gives every block: more would make a plan of its own for each address.
std::uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer) | 64U;
  return 1U << std::countr_zero(address);
}

void choose(Plan& plan, const ProductRun& run, DeviceState& device) {
  Preference preference;
  check_cublas(cublas_functions()->MatmulPreferenceCreate(preference.place()), "a preference");
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(run.b.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(run.a.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      alignment_of(run.addend != nullptr ? run.addend : run.result));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(run.result));
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status = cublas_functions()->MatmulAlgoGetHeuristic(
      device.part<CublasHandle>(), plan.operation, plan.a, plan.b, plan.c, plan.c, preference, 1,
      &result, &found);
  plan.found =
      status == CUBLAS_STATUS_SUCCESS && found > 0 && result.state == CUBLAS_STATUS_SUCCESS;
  plan.algorithm = result.algo;
  plan.workspace = result.workspaceSize;
}

Plan make_plan(const ProductRun& run, Math math, DeviceState& device) {
  const Types types = types_of(run.dtype, math);
  Plan plan;
  check_cublas(
      cublas_functions()->MatmulDescCreate(plan.operation.place(), types.compute, types.scale),
      "a product");
  set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSA, run.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSB, run.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (run.bias != nullptr) {
    set(plan.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(plan.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, run.bias);
  }
  plan.a = layout_of(types.data, run.b.transposed ? run.inner : run.columns,
                     run.b.transposed ? run.columns : run.inner, run.b.ld, run.count, run.b.stride);
  plan.b = layout_of(types.data, run.a.transposed ? run.rows : run.inner,
                     run.a.transposed ? run.inner : run.rows, run.a.ld, run.count, run.a.stride);
  plan.c =
      layout_of(types.data, run.columns, run.rows, run.columns, run.count, run.rows * run.columns);
  choose(plan, run, device);
  return plan;
}

PlanKey key_of(const ProductRun& run, Math math, const DeviceState& device) {
  PlanKey key(device.ordinal());
  key.add(static_cast<std::int64_t>(run.dtype)).add(static_cast<std::int64_t>(math));
  key.add(run.rows).add(run.inner).add(run.columns).add(run.count);
  key.add(run.a.ld).add(run.a.transposed).add(run.a.stride);
  key.add(run.b.ld).add(run.b.transposed).add(run.b.stride);
  key.add((run.bias != nullptr) + 2 * (run.addend != nullptr));
  key.add(alignment_of(run.a.data)).add(alignment_of(run.b.data)).add(alignment_of(run.result));
  key.add(run.addend != nullptr ? alignment_of(run.addend) : 0);
  return key;
}

// One and nothing, as each scale type writes them.
struct Factors {
  alignas(16) double real64;
  alignas(16) float real32[2];
};
const void* factor(const Factors& factors, DType dtype) {
  return dtype == DType::kFloat64 ? static_cast<const void*>(&factors.real64) : factors.real32;
}
constexpr Factors kOne{1.0, {1.0F, 0.0F}};
constexpr Factors kNone{0.0, {0.0F, 0.0F}};

}  // namespace

bool multiply_by_cublas(Call& call, const ProductRun& run) {
  if (cublas_functions() == nullptr) return false;
  constexpr std::int64_t kMostBatch = 0x7fffffff;
  if (run.count > kMostBatch) return false;
  DeviceState& device = call.device();
  const Math math = device.matmul_math();
  thread_local ShapeCache<Plan> plans;
  Plan& plan = plans.get(key_of(run, math, device), [&] { return make_plan(run, math, device); });
  if (!plan.found) return false;
  if (run.bias != nullptr) {
    set(plan.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, run.bias);
  }
  void* workspace = library_workspace(call, plan.workspace);
  const void* addend = run.addend != nullptr ? run.addend : run.result;
  check_cublas(
      cublas_functions()->Matmul(
          device.part<CublasHandle>(), plan.operation, factor(kOne, run.dtype), run.b.data, plan.a,
          run.a.data, plan.b, factor(run.addend != nullptr ? kOne : kNone, run.dtype), addend,
          plan.c, run.result, plan.c, &plan.algorithm, workspace, plan.workspace, call.stream()),
      "a product");
  return true;
}

}  // namespace ebb::cuda
