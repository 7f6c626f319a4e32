"""What torch's functions and methods do that are written in Python, or without a schema: read in its sources.

Marks are those of `triton_mutlint/host/torch/table.py`. Functions that call what they are given, or
that were not reviewed, are left out, and so not known to the linter.
"""

from __future__ import annotations

from scripts.torch_effects.reviewed import words

_ANY = "*arguments **keywords"

_ACTIVATIONS = words("""alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout threshold relu relu6
    hardtanh elu selu celu leaky_relu rrelu silu mish hardswish hardsigmoid""")

_FRESH = words("""adaptive_avg_pool2d adaptive_avg_pool3d affine_grid binary_cross_entropy
    binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss fold gaussian_nll_loss
    glu grid_sample group_norm grouped_mm gumbel_softmax hinge_embedding_loss huber_loss interpolate
    kl_div l1_loss layer_norm linear_cross_entropy local_response_norm log_softmax lp_pool1d lp_pool2d
    lp_pool3d margin_ranking_loss max_unpool1d max_unpool2d max_unpool3d mse_loss multi_margin_loss
    multilabel_margin_loss multilabel_soft_margin_loss nll_loss pad poisson_nll_loss rms_norm
    scaled_grouped_mm scaled_mm sigmoid smooth_l1_loss soft_margin_loss softmax softmin softsign tanh
    tanhshrink triplet_margin_loss unfold upsample upsample_bilinear upsample_nearest""")

_POOLS = [f"{kind}_max_pool{n}d{tail}" for kind in ("adaptive", "fractional") for n in (1, 2, 3)
          for tail in ("", "_with_indices")] + [f"max_pool{n}d{tail}" for n in (1, 2, 3)
          for tail in ("", "_with_indices")]  # fmt: skip

# Python functions: marks by parameter name (positions come from their signatures) and the result.
PYTHON = {
    **{f"torch.nn.functional.{name}": "-> tensor inplace=inplace" for name in _ACTIVATIONS},
    **{f"torch.nn.functional.{name}": "-> tensor" for name in _FRESH},
    **{f"torch.nn.functional.{name}": "input? -> tensor inplace=inplace" for name in _ACTIVATIONS if "dropout" in name},
    "torch.nn.functional.normalize": "out!= -> tensor",
    "torch.nn.functional.embedding": "weight! -> tensor if max_norm",
    "torch.nn.functional.embedding_bag": "input! weight! -> tensor if max_norm",
    "torch.nn.functional.batch_norm": "running_mean! running_var! -> tensor if training",
    "torch.nn.functional.instance_norm": "running_mean! running_var! -> tensor if +use_input_stats",
    "torch.nn.functional.multi_head_attention_forward": "-> tensors",
    "torch.atleast_1d": "tensors[]? -> tensors",
    "torch.atleast_2d": "tensors[]? -> tensors",
    "torch.atleast_3d": "tensors[]? -> tensors",
    "torch.broadcast_shapes": "-> plain",
    "torch.broadcast_tensors": "tensors[]? -> tensors",
    "torch.cartesian_prod": "tensors[]? -> tensor",
    "torch.block_diag": "-> tensor",
    "torch.cdist": "-> tensor",
    "torch.chain_matmul": "matrices[]? out! -> tensor",
    "torch.einsum": "args[]? -> tensor",
    "torch.meshgrid": "tensors[]? -> tensors",
    "torch.norm": "out!= -> tensor",
    "torch.pca_lowrank": "-> tensors",
    "torch.svd_lowrank": "-> tensors",
    "torch.split": "tensor= -> tensors",
    "torch.stft": "-> tensor",
    "torch.tensordot": "out!= -> tensor",
    "torch.unravel_index": "-> tensors",
    **{f"torch.signal.windows.{name}": "-> tensor" for name in words("""bartlett blackman cosine exponential gaussian
        general_cosine general_hamming hamming hann kaiser nuttall""")},
    "torch.nn.utils.parameters_to_vector": "-> tensor",
    "torch.nn.utils.rnn.pad_sequence": "-> tensor",
    "torch.nn.utils.rnn.unpad_sequence": "padded_sequences? -> tensors",
    "torch.autograd.grad": "grad_outputs[]? -> tensors",
    "torch.autograd.backward": "-> plain",
    "torch.testing.assert_close": "-> plain",
    "torch.testing.make_tensor": "-> tensor",
    "torch.is_tensor": "-> plain",
    "torch.is_storage": "-> plain",
    "torch.typename": "-> plain",
    "torch.save": "-> plain",
    "torch.distributed.all_reduce": "tensor! -> plain",
    "torch.distributed.all_reduce_coalesced": "tensors[]! -> plain",
    "torch.distributed.broadcast": "tensor! -> plain",
    "torch.distributed.reduce": "tensor! -> plain",
    "torch.distributed.all_gather": "tensor_list[]! -> plain",
    "torch.distributed.all_gather_into_tensor": "output_tensor! -> plain",
    "torch.distributed.reduce_scatter": "output! -> plain",
    "torch.distributed.reduce_scatter_tensor": "output! -> plain",
    "torch.distributed.all_to_all": "output_tensor_list[]! -> plain",
    "torch.distributed.all_to_all_single": "output! -> plain",
    "torch.distributed.gather": "gather_list[]! -> plain",
    "torch.distributed.scatter": "tensor! -> plain",
    "torch.distributed.send": "-> plain",
    "torch.distributed.isend": "-> plain",
    "torch.distributed.recv": "tensor! -> plain",
    "torch.distributed.irecv": "tensor! -> plain",
    **{f"torch.nn.init.{name}_": "tensor!= -> tensor" for name in words("""uniform normal trunc_normal
        constant ones zeros eye dirac xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal
        sparse""")},
    **{f"torch.distributed._functional_collectives.{name}": "-> tensor" for name in
       words("all_reduce broadcast all_gather_tensor reduce_scatter_tensor all_to_all_single")},
    "torch.distributed._functional_collectives.wait_tensor": "tensor= -> tensor",
}  # fmt: skip

_PLAIN_CALLS = words("""torch.Size torch.device torch.dtype torch.Generator torch.Stream torch.Event torch.finfo
    torch.iinfo torch.layout torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled torch.autocast
    torch.amp.autocast torch.cuda.amp.autocast torch.autograd.no_grad torch.autograd.enable_grad
    torch.autograd.inference_mode torch.autograd.set_grad_enabled torch.get_default_dtype torch.get_default_device
    torch.get_num_threads torch.get_num_interop_threads torch.get_device_module torch.get_float32_matmul_precision
    torch.set_float32_matmul_precision torch.get_autocast_gpu_dtype torch.get_autocast_cpu_dtype
    torch.get_autocast_dtype torch.is_autocast_enabled torch.is_autocast_cpu_enabled torch.is_autocast_cache_enabled
    torch.set_autocast_enabled torch.clear_autocast_cache torch.is_grad_enabled torch.is_inference_mode_enabled
    torch.is_anomaly_enabled torch.are_deterministic_algorithms_enabled torch.use_deterministic_algorithms
    torch.set_default_dtype torch.set_default_device torch.set_num_threads torch.set_printoptions torch.manual_seed
    torch.seed torch.initial_seed torch.set_rng_state torch.compiled_with_cxx11_abi torch.is_warn_always_enabled
    torch.random.manual_seed torch.random.seed torch.random.initial_seed torch.random.set_rng_state
    torch.random.fork_rng torch.sym_float torch.sym_int torch.sym_max torch.sym_min torch.sym_not torch.sym_sqrt
    torch.sym_sum torch._check torch._check_is_size torch._check_value torch._check_type torch._assert
    torch.compiler.is_compiling torch.compiler.is_dynamo_compiling torch.compiler.is_exporting
    torch.compiler.cudagraph_mark_step_begin torch.jit.is_scripting torch.jit.is_tracing torch.cuda.CUDAGraph
    torch.cuda.Event torch.cuda.ExternalStream torch.cuda.Stream torch.cuda.StreamContext
    torch.cuda.can_device_access_peer torch.cuda.current_blas_handle torch.cuda.current_device
    torch.cuda.current_stream torch.cuda.default_stream torch.cuda.device torch.cuda.device_count
    torch.cuda.device_of torch.cuda.empty_cache torch.cuda.get_arch_list torch.cuda.get_device_capability
    torch.cuda.get_device_name torch.cuda.get_device_properties torch.cuda.get_gencode_flags
    torch.cuda.graph_pool_handle torch.cuda.init torch.cuda.initial_seed torch.cuda.ipc_collect
    torch.cuda.is_available torch.cuda.is_bf16_supported torch.cuda.is_current_stream_capturing
    torch.cuda.is_initialized torch.cuda.manual_seed torch.cuda.manual_seed_all torch.cuda.max_memory_allocated
    torch.cuda.max_memory_reserved torch.cuda.mem_get_info torch.cuda.memory_allocated torch.cuda.memory_reserved
    torch.cuda.memory_stats torch.cuda.memory_summary torch.cuda.reset_peak_memory_stats torch.cuda.seed
    torch.cuda.seed_all torch.cuda.set_device torch.cuda.set_rng_state torch.cuda.set_stream torch.cuda.stream
    torch.cuda.synchronize torch.cuda.utilization torch.cuda.nvtx.range torch.cuda.nvtx.range_push
    torch.cuda.nvtx.range_pop torch.cuda.nvtx.mark torch.accelerator.current_accelerator
    torch.accelerator.current_device_index torch.accelerator.current_stream torch.accelerator.device_count
    torch.accelerator.device_index torch.accelerator.is_available torch.accelerator.set_device_index
    torch.accelerator.set_stream torch.accelerator.synchronize torch.xpu.Event torch.xpu.Stream
    torch.xpu.current_device torch.xpu.current_stream torch.xpu.device torch.xpu.device_count torch.xpu.empty_cache
    torch.xpu.get_device_capability torch.xpu.get_device_name torch.xpu.get_device_properties torch.xpu.is_available
    torch.xpu.set_device torch.xpu.stream torch.xpu.synchronize torch.distributed.barrier
    torch.distributed.get_backend torch.distributed.get_rank torch.distributed.get_world_size
    torch.distributed.get_global_rank torch.distributed.get_group_rank torch.distributed.get_process_group_ranks
    torch.distributed.is_available torch.distributed.is_initialized torch.distributed.is_nccl_available
    torch.distributed.new_group torch.distributed.init_device_mesh torch.profiler.record_function
    torch.autograd.profiler.record_function torch.backends.cuda.is_built torch.backends.cuda.sdp_kernel
    torch.nn.attention.sdpa_kernel torch.backends.cudnn.is_available torch.backends.cudnn.flags
    torch.backends.cudnn.version torch.backends.mps.is_available torch.nn.init.calculate_gain""")

_TYPED = [f"{owner}.{kind}Tensor" for owner in ("torch", "torch.cuda") for kind in
          words("BFloat16 Bool Byte Char Double Float Half Int Long Short")] + ["torch.Tensor"]  # fmt: skip

_ISTFT = "n_fft hop_length win_length window center normalized onesided length return_complex"

# "return_indices" makes the result a pair of fresh tensors.
_POOL = ("input kernel_size stride padding dilation *more * output_size output_ratio ceil_mode return_indices "
         "_random_samples")  # fmt: skip

# Whole entries: functions whose signatures cannot be read, and those that take no tensors.
FUNCTIONS = {
    **dict.fromkeys(_PLAIN_CALLS, f"{_ANY} -> plain"),
    **dict.fromkeys(_TYPED, "*data? * device dtype -> tensor"),
    **{f"torch.nn.functional.{name}": f"{_POOL} -> tensors" for name in _POOLS},
    "torch.nn.functional.logsigmoid": "input -> tensor",
    "torch.sparse.sampled_addmm": "input mat1 mat2 * beta alpha out! -> tensor",
    "torch.tensor": "data * dtype device requires_grad pin_memory -> tensor",
    "torch.as_tensor": "data? dtype device -> tensor",
    "torch.asarray": "obj? * dtype device copy requires_grad -> tensor",
    "torch.from_numpy": "ndarray= -> tensor",
    "torch.frombuffer": "buffer= * dtype count offset requires_grad -> tensor",
    "torch.from_dlpack": "ext_tensor? * device copy -> tensor",
    "torch.utils.dlpack.from_dlpack": "ext_tensor? * device copy -> tensor",
    "torch.to_dlpack": "tensor= -> tensor",
    "torch.utils.dlpack.to_dlpack": "tensor= -> tensor",
    "torch.nn.Parameter": "data= requires_grad -> tensor",
    "torch.nn.parameter.Parameter": "data= requires_grad -> tensor",
    "torch.nn.Buffer": "data= * persistent -> tensor",
    "torch.get_rng_state": "-> tensor",
    "torch.cuda.get_rng_state": "device -> tensor",
    "torch.istft": f"input {_ISTFT} -> tensor",
    "torch.lu": "A pivot get_infos * out! -> tensors",
    "torch.unique": "input sorted return_inverse return_counts dim -> tensors",
    "torch.unique_consecutive": "input return_inverse return_counts dim -> tensors",
    "torch.nonzero": "input * out! as_tuple -> tensors",
}  # fmt: skip

_CASTS = words("bfloat16 bool byte cdouble cfloat char double float half int long short")
_OPERATORS = words("""add sub mul truediv floordiv mod pow matmul and or xor lshift rshift div eq ne lt le gt ge radd
    rsub rmul rtruediv rfloordiv rmod rpow rmatmul rand ror rxor rlshift rrshift rdiv""")

METHODS = {
    **dict.fromkeys(_CASTS, "self? memory_format -> tensor"),
    **dict.fromkeys(["cuda", "xpu", "ipu", "mtia"], "self? device non_blocking memory_format -> tensor"),
    "cpu": "self? memory_format -> tensor",
    "type": "self? dtype non_blocking -> tensor",
    "new": "self *data? * device -> tensor",
    "new_tensor": "self data * dtype device requires_grad pin_memory -> tensor",
    "as_subclass": "self= cls -> tensor",
    "numpy": "self= * force -> tensor",  # refuses what it would have to copy; `force`, which does not, is rare
    "__array__": "self? dtype -> tensor",
    "__dlpack__": "self? * stream max_version dl_device copy -> tensor",
    "storage": "self= -> tensor",
    "untyped_storage": "self= -> tensor",
    "_typed_storage": "self= -> tensor",
    "data_ptr": "self@ -> plain",
    "const_data_ptr": "self@ -> plain",
    "backward": "self gradient retain_graph create_graph inputs -> plain",
    "dim_order": "self * ambiguity_check -> plain",
    "register_hook": "self hook -> plain",
    "register_post_accumulate_grad_hook": "self hook -> plain",
    "share_memory_": "self= -> tensor",
    "apply_": "self!= callable -> tensor",
    "istft": f"self {_ISTFT} -> tensor",
    "stft": "self n_fft hop_length win_length window center pad_mode normalized onesided return_complex "
            "align_to_window -> tensor",
    "norm": "self p dim keepdim dtype -> tensor",
    "lu": "self pivot get_infos -> tensors",
    "split": "self= split_size dim -> tensors",
    "unflatten": "self= dim sizes -> tensor",
    "unique": "self sorted return_inverse return_counts dim -> tensors",
    "unique_consecutive": "self return_inverse return_counts dim -> tensors",
    "nonzero": "self * as_tuple -> tensors",
    "to_sparse_coo": "self? -> tensor",
    **dict.fromkeys(["element_size", "is_shared", "ndimension", "nelement", "tolist", "storage_type", "__bool__",
        "__complex__", "__dlpack_device__", "__float__", "__hash__", "__index__", "__int__", "__len__", "__repr__",
        "__str__", "__nonzero__", "__dir__"], "self -> plain"),
    "__contains__": "self element -> plain",
    "__format__": "self format_spec -> plain",
    "__deepcopy__": "self memo -> tensor",
    "__iter__": "self= -> tensors",
    "__reversed__": "self? -> tensor",
    "__getitem__": "self? index -> tensor",
    "__setitem__": "self! index value -> plain",
    "__pos__": "self= -> tensor",
    **dict.fromkeys(["__abs__", "__invert__", "__neg__"], "self -> tensor"),
    **{f"__{name}__": "self other -> tensor" for name in _OPERATORS},
    **{f"__i{name}__": "self!= other -> tensor" for name in
       words("add sub mul truediv floordiv mod pow and or xor lshift rshift div")},
}  # fmt: skip

ATTRIBUTES = {
    **dict.fromkeys(["data", "T", "mT", "H", "mH", "real", "imag"], "self= -> tensor"),
    "_base": "self? -> tensor",
    "__cuda_array_interface__": "self@ -> plain",
    **dict.fromkeys(words("""shape dtype device ndim layout itemsize nbytes requires_grad is_leaf grad_fn grad_dtype
        name names output_nr retains_grad is_cpu is_cuda is_ipu is_maia is_meta is_mkldnn is_mps
        is_mtia is_nested is_quantized is_sparse is_sparse_csr is_vulkan is_xla is_xpu _version
        _is_view _has_symbolic_sizes_strides __class__ __doc__"""), "self -> plain"),
}  # fmt: skip
