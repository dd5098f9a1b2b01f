#include "CompileOptions.h"

#include <algorithm>

namespace tilewright {

namespace {

constexpr uint8_t kCpu = 1u << static_cast<unsigned>(TargetKind::Cpu);
constexpr uint8_t kAscend = 1u << static_cast<unsigned>(TargetKind::Ascend);
constexpr uint8_t kCuda = 1u << static_cast<unsigned>(TargetKind::Cuda);

/// Sources: Triton's launch options (CUDA back end), the option list of triton-ascend's compiler.py, our CPU
/// back end.
constexpr CompileOption kOptions[] = {
    // CUDA
    {"num_warps", kCuda, "warps of one program"},
    {"num_stages", kCuda | kAscend,
     "depth of software pipelining; on Ascend 1 or 2, an alias of multibuffer"},
    {"num_ctas", kCuda, "blocks of one cluster"},
    {"maxnreg", kCuda, "limit on registers of a thread"},
    {"num_buffers_warp_spec", kCuda, "buffers between specialised warps"},
    {"num_consumer_groups", kCuda, "consumer warp groups"},
    {"reg_dec_producer", kCuda, "registers given up by producer warps"},
    {"reg_inc_consumer", kCuda, "registers taken by consumer warps"},
    {"launch_pdl", kCuda, "programmatic dependent launch"},
    {"launch_cooperative_grid", kCuda, "cooperative grid launch"},
    {"enable_fp_fusion", kCuda, "contract multiply and add"},
    {"ir_override", kCuda, "file with replacement IR"},
    // CPU
    {"cpu_threads", kCpu, "threads of one launch"},
    // Ascend
    {"multibuffer", kAscend, "double buffers for loads and stores in loops"},
    {"enable_ubuf_saving", kAscend, "trade speed for less Unified Buffer"},
    {"limit_auto_multi_buffer_only_for_local_buffer", kAscend, "no multi-buffer for GM workspace"},
    {"limit_auto_multi_buffer_of_local_buffer", kAscend, "which local buffers are doubled"},
    {"set_workspace_multibuffer", kAscend, "copies of the cube-vector workspace"},
    {"unit_flag", kAscend, "fine-grained synchronisation of cube output"},
    {"enable_auto_bind_sub_block", kAscend, "split vector work over both vector cores"},
    {"auto_tile_and_bind_subblock", kAscend, "split vector work over both vector cores"},
    {"enable_hivm_auto_cv_balance", kAscend, "balance cube and vector stages"},
    {"tile_mix_vector_loop", kAscend, "parts of a mixed kernel's vector loop"},
    {"tile_mix_cube_loop", kAscend, "parts of a mixed kernel's cube loop"},
    {"sync_solver", kAscend, "how synchronisation is placed"},
    {"inject_barrier_all", kAscend, "barriers everywhere (for debugging)"},
    {"inject_block_all", kAscend, "block synchronisation everywhere (for debugging)"},
    {"disable_auto_inject_block_sync", kAscend, "no automatic block synchronisation"},
    {"auto_blockify_size", kAscend, "logical blocks of one physical block"},
    {"enable_linearize", kAscend, "linear addressing"},
    {"enable_nd2nz_on_vector", kAscend, "layout change on vector cores"},
    {"enable_select_analysis", kAscend, "analysis of selects"},
    {"enable_drop_unit_dims", kAscend, "drop axes of size 1"},
    {"enable_flatten", kAscend, "flatten elementwise loops"},
    {"enable_auto_vectorize_v2", kAscend, "vector-function generation (950)"},
    {"enable_vf_fusion", kAscend, "fusion of vector functions (950)"},
    {"vf_merge_level", kAscend, "merging of vector functions (950)"},
    {"optimize_dynamic_offset", kAscend, "lowering of dynamic offsets"},
    {"disable_size_align_for_cast", kAscend, "no size alignment for casts"},
    {"add_auto_scheduling", kAscend, "automatic scheduling of mixed kernels"},
    {"mix_mode", kAscend, "which cores a kernel uses"},
    {"enable_mixed_cv", kAscend, "mixed kernels (deprecated)"},
    {"force_simt_only", kAscend, "threads instead of vectors (950)"},
    {"force_simt_template", kAscend, "threads instead of vectors (950)"},
    {"compile_mode", kAscend, "simd, unstructured_in_simt or simt_only (950)"},
    {"simt_stack_limit", kAscend, "stack of a SIMT thread (950)"},
    {"shared_mem_dynamic_size", kAscend, "shared memory of SIMT kernels (950)"},
    {"enable_sync_block_lock", kAscend, "locks between blocks"},
    {"disable_fma", kAscend, "no fused multiply-add (950)"},
};

} // namespace

std::span<const CompileOption> compileOptions() { return kOptions; }

const CompileOption *findCompileOption(std::string_view name) {
  const auto found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                  [&](const CompileOption &each) { return each.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

std::string optionNames(TargetKind kind) {
  std::string out;
  for (const auto &option : kOptions)
    if (option.worksOn(kind))
      out += (out.empty() ? "" : ", ") + std::string(option.name);
  return out;
}

} // namespace tilewright
