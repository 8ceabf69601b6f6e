#include "kernels/cuda/cublaslt.h"

#include <dlfcn.h>

#include <array>
#include <map>
#include <utility>

namespace hone::kernels::cuda {
namespace {

constexpr const char* kRemedy =
    "Install it (pip install nvidia-cublas) and put its lib folder, site-packages/nvidia/cu13/lib, on LD_LIBRARY_PATH.";

// Values of cublasLt's enumerations, from its documentation.
constexpr int kCompute32f = 68, kR16bf = 14, kR32f = 0;
constexpr int kTransposeA = 3, kTransposeB = 4;                  // attributes of a matmul descriptor
constexpr int kMaxWorkspaceBytes = 1, kReductionSchemeMask = 3;  // attributes of a preference
constexpr uint32_t kReductionSchemeNone = 0;

struct Algorithm { uint64_t data[8]; };
struct Heuristic {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

using Handle = void*;

/// The functions of cublasLt that are used; all are required.
struct Functions {
  int (*create)(Handle*);
  int (*destroy)(Handle);
  size_t (*version)();
  int (*desc_create)(Handle*, int compute, int scale);
  int (*desc_set)(Handle, int attribute, const void*, size_t);
  int (*desc_destroy)(Handle);
  int (*layout_create)(Handle*, int type, uint64_t rows, uint64_t columns, int64_t leading);
  int (*layout_destroy)(Handle);
  int (*preference_create)(Handle*);
  int (*preference_set)(Handle, int attribute, const void*, size_t);
  int (*preference_destroy)(Handle);
  int (*heuristic)(Handle, Handle desc, Handle a, Handle b, Handle c, Handle d, Handle preference, int wanted,
                   Heuristic*, int* found);
  int (*matmul)(Handle, Handle desc, const void* alpha, const void* a, Handle a_layout, const void* b, Handle b_layout,
                const void* beta, const void* c, Handle c_layout, void* d, Handle d_layout, const Algorithm*,
                void* workspace, size_t workspace_bytes, void* stream);
};

void expect_success(int status, const char* what) {
  if (status != 0) fail(Code::kCuda, "cublasLt: %s returned status %d.", what, status);
}

/// d[rows, columns] (+)= op(a) op(b), all column-major, columns `leading` elements apart.
struct Problem {
  int64_t rows, columns, depth;
  bool turn_a, turn_b;
  int64_t leading_a, leading_b, leading_d;
  bool d_is_bf16;

  std::array<int64_t, 9> key() const {
    return {rows, columns, depth, turn_a, turn_b, leading_a, leading_b, leading_d, d_is_bf16};
  }
};

/// Owns a cublasLt handle, together with the function that destroys it.
class Owned {
 public:
  Owned() = default;
  Owned(Handle handle, int (*destroy)(Handle)) : handle_(handle), destroy_(destroy) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~Owned() {
    if (handle_) destroy_(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  int (*destroy_)(Handle) = nullptr;
};

struct Plan {
  Owned desc, a, b, d;
  Algorithm algorithm;
};

}  // namespace

struct CublasLt::State {
  void* library = nullptr;
  Functions f{};
  Handle handle = nullptr;
  void* workspace;
  int64_t workspace_bytes;
  std::map<std::array<int64_t, 9>, Plan> plans;

  State(void* memory, int64_t bytes, const std::string& name) : workspace(memory), workspace_bytes(bytes) {
    library = dlopen(name.empty() ? "libcublasLt.so.13" : name.c_str(), RTLD_NOW | RTLD_LOCAL);
    const std::string problem = library ? "" : dlerror();
    if (!library && name.empty()) library = dlopen("libcublasLt.so.12", RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(Code::kUnsupported, "cublasLt cannot be opened (%s). %s", problem.c_str(), kRemedy);
    try {
      resolve();
      expect_success(f.create(&handle), "cublasLtCreate");
    } catch (...) {
      dlclose(library);
      throw;
    }
  }
  ~State() {
    plans.clear();
    f.destroy(handle);
    dlclose(library);
  }

  template <class F>
  void find(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    if (!function) fail(Code::kUnsupported, "cublasLt: the library lacks the symbol %s. %s", name, kRemedy);
  }
  void resolve() {
    find("cublasLtCreate", f.create);
    find("cublasLtDestroy", f.destroy);
    find("cublasLtGetVersion", f.version);
    find("cublasLtMatmulDescCreate", f.desc_create);
    find("cublasLtMatmulDescSetAttribute", f.desc_set);
    find("cublasLtMatmulDescDestroy", f.desc_destroy);
    find("cublasLtMatrixLayoutCreate", f.layout_create);
    find("cublasLtMatrixLayoutDestroy", f.layout_destroy);
    find("cublasLtMatmulPreferenceCreate", f.preference_create);
    find("cublasLtMatmulPreferenceSetAttribute", f.preference_set);
    find("cublasLtMatmulPreferenceDestroy", f.preference_destroy);
    find("cublasLtMatmulAlgoGetHeuristic", f.heuristic);
    find("cublasLtMatmul", f.matmul);
  }

  Owned layout(int type, int64_t rows, int64_t columns, int64_t leading) const {
    Handle made = nullptr;
    expect_success(f.layout_create(&made, type, uint64_t(rows), uint64_t(columns), leading), "cublasLtMatrixLayoutCreate");
    return {made, f.layout_destroy};
  }
  Owned description(const Problem& p) const {
    Handle made = nullptr;
    expect_success(f.desc_create(&made, kCompute32f, kR32f), "cublasLtMatmulDescCreate");
    Owned desc(made, f.desc_destroy);
    const int32_t a = p.turn_a, b = p.turn_b;
    expect_success(f.desc_set(made, kTransposeA, &a, sizeof a), "cublasLtMatmulDescSetAttribute");
    expect_success(f.desc_set(made, kTransposeB, &b, sizeof b), "cublasLtMatmulDescSetAttribute");
    return desc;
  }
  Owned preference() const {
    Handle made = nullptr;
    expect_success(f.preference_create(&made), "cublasLtMatmulPreferenceCreate");
    Owned owned(made, f.preference_destroy);
    const uint64_t bytes = uint64_t(workspace_bytes);
    const char* const what = "cublasLtMatmulPreferenceSetAttribute";
    expect_success(f.preference_set(made, kMaxWorkspaceBytes, &bytes, sizeof bytes), what);
    expect_success(f.preference_set(made, kReductionSchemeMask, &kReductionSchemeNone, sizeof kReductionSchemeNone), what);
    return owned;
  }

  const Plan& plan_of(const Problem& p) {
    const auto found = plans.find(p.key());
    if (found != plans.end()) return found->second;
    Plan plan{description(p), layout(kR16bf, p.turn_a ? p.depth : p.rows, p.turn_a ? p.rows : p.depth, p.leading_a),
              layout(kR16bf, p.turn_b ? p.columns : p.depth, p.turn_b ? p.depth : p.columns, p.leading_b),
              layout(p.d_is_bf16 ? kR16bf : kR32f, p.rows, p.columns, p.leading_d), {}};
    const Owned wish = preference();
    Heuristic best{};
    int count = 0;
    const int status = f.heuristic(handle, plan.desc.get(), plan.a.get(), plan.b.get(), plan.d.get(), plan.d.get(),
                                   wish.get(), 1, &best, &count);
    if (status != 0 || count < 1 || best.state != 0) {
      fail(Code::kUnsupported, "cublasLt: no algorithm without split-K for a [%lld, %lld] product of depth %lld with %lld bytes of workspace.",
           (long long)p.rows, (long long)p.columns, (long long)p.depth, (long long)workspace_bytes);
    }
    plan.algorithm = best.algorithm;
    return plans.emplace(p.key(), std::move(plan)).first->second;
  }

  void multiply(const Stream& stream, const Problem& p, const void* a, const void* b, void* d, bool accumulate) {
    const Plan& plan = plan_of(p);
    const float alpha = 1.0f, beta = accumulate ? 1.0f : 0.0f;
    expect_success(f.matmul(handle, plan.desc.get(), &alpha, a, plan.a.get(), b, plan.b.get(), &beta, d, plan.d.get(), d,
                            plan.d.get(), &plan.algorithm, workspace, size_t(workspace_bytes), stream.handle),
                   "cublasLtMatmul");
  }
};

CublasLt::CublasLt(void* workspace, int64_t workspace_bytes, const std::string& library)
    : state_(std::make_unique<State>(workspace, workspace_bytes, library)) {}
CublasLt::~CublasLt() = default;

int64_t CublasLt::version() const { return int64_t(state_->f.version()); }

// cublasLt is column-major, so our rows are its columns: it computes y^T [N, M] = W x^T, and reads W [N][K]
// as [K, N].
void CublasLt::linear(const Stream& stream, const LinearArgs& args) {
  if (!args.bias.empty()) fail(Code::kUnsupported, "cublasLt: the peer adds no bias.");
  const int64_t m = args.x.dim(0), n = args.w.n, k = args.w.k;
  const Problem p{n, m, k, !args.w.transposed, false, args.w.transposed ? n : k, args.x.row_stride, args.y.row_stride,
                  args.y.dtype == DType::kBF16};
  state_->multiply(stream, p, args.w.panels, args.x.data, args.y.data, args.accumulate);
}

// In column-major order this is dW^T [K, N] = x^T dy.
void CublasLt::linear_grad_weight(const Stream& stream, const LinearGradWeightArgs& args) {
  if (!args.dbias.empty()) fail(Code::kUnsupported, "cublasLt: the peer adds no bias gradient.");
  const int64_t m = args.dy.dim(0), n = args.dw.dim(0), k = args.dw.dim(1);
  const Problem p{k, n, m, false, true, args.x.row_stride, args.dy.row_stride, args.dw.row_stride, false};
  state_->multiply(stream, p, args.x.data, args.dy.data, args.dw.data, true);
}

}  // namespace hone::kernels::cuda
