"""What schemas do not say, read in torch's sources and held against what calls do (tests/host).

Marks are those of `triton_mutlint/host/torch/table.py`. Nothing here is guessed: what was not
reviewed is left out, and so not known to the linter.
"""

from __future__ import annotations


def words(text: str) -> list[str]:
    return text.split()


# Views by their schemas that give a copy, or something else, under some arguments.
PERHAPS_VIEWS = frozenset(
    words("""reshape reshape_as contiguous to flatten ravel resolve_conj resolve_neg coalesce pin_memory
    _autocast_to_full_precision _autocast_to_reduced_precision _sparse_broadcast_to slice_inverse _unpack_dual
    _nested_view_from_buffer _nested_view_from_jagged _nested_get_values""")
)

# By op: what parameters have done to them that the op's schema leaves out.
UNDECLARED = {
    # a dropout that does not train gives its input
    **dict.fromkeys(["dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"], "input?"),
    # views and casts without an annotation
    **dict.fromkeys(["atleast_1d", "atleast_2d", "atleast_3d"], "self? tensors[]?"),
    **dict.fromkeys(["broadcast_tensors", "meshgrid", "einsum", "cartesian_prod", "align_tensors", "_to_cpu",
                     "flatten_dense_tensors"], "tensors[]?"),
    **dict.fromkeys(words("data unsafe_chunk unsafe_split unsafe_split_with_sizes _unsafe_view lift"), "self="),
    **dict.fromkeys(words("""type_as conj_physical chalf sum_to_size to_dense to_sparse to_sparse_csr to_sparse_csc
        to_sparse_bsr to_sparse_bsc to_mkldnn _to_dense _to_sparse _cast_Byte _cast_Char _cast_Double
        _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short _add_batch_dim _remove_batch_dim
        _reshape_from_tensor align_to align_as refine_names rename pixel_shuffle pixel_unshuffle
        native_channel_shuffle channel_shuffle _lazy_clone to_padded_tensor nested_to_padded_tensor"""), "self?"),
    **dict.fromkeys(["to_dense_backward", "to_mkldnn_backward"], "grad? input? mask?"),
    "dequantize": "self? tensors[]?",
    "chain_matmul": "matrices[]?",
    "unflatten_dense_tensors": "flat?",
    "_functional_assert_async": "self? dep_token?",
    # sparse tensors are made of the tensors given
    **dict.fromkeys(words("""sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor
        sparse_compressed_tensor _sparse_coo_tensor_unsafe _sparse_csr_tensor_unsafe _sparse_csc_tensor_unsafe
        _sparse_bsr_tensor_unsafe _sparse_bsc_tensor_unsafe _sparse_compressed_tensor_unsafe
        _sparse_coo_tensor_with_dims_and_tensors _sparse_compressed_tensor_with_dims
        """), "indices? values? crow_indices? col_indices? ccol_indices? row_indices? compressed_indices? "
        "plain_indices?"),
    "sparse_mask": "self? mask?",
    # what is given as edges comes back as them
    **dict.fromkeys(["histogramdd", "histogram", "_histogramdd_bin_edges"], "bins[]?"),
    "_saturate_weight_to_fp16": "weight!=",
    # statistics are written without an annotation
    **dict.fromkeys(words("""batch_norm _batch_norm_impl_index native_batch_norm cudnn_batch_norm miopen_batch_norm
        instance_norm batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_update_stats
        """), "running_mean! running_var!"),
    # handed to a process group, or given back by it
    "wait_tensor": "tensor=",
}  # fmt: skip

# Ops that write an argument under a flag alone, by op.
FLAGS = {
    **dict.fromkeys(words("""batch_norm _batch_norm_impl_index native_batch_norm cudnn_batch_norm miopen_batch_norm
        _native_batch_norm_legit"""), "training"),
    "instance_norm": "use_input_stats",
    "rrelu_with_noise": "training",
}  # fmt: skip

# Not storage: who may free the memory, whether gradients are kept.
HARMLESS = frozenset(words("record_stream retain_grad requires_grad_ detach_ rename_ _coalesced_ share_memory_"))

# Left out, so that whatever they are given counts as not known: an argument becomes another's alias
# (set_, set_data, swap_tensors), another order of arguments is accepted (addmv_), or functions are called.
# A derivative that was read to give its argument back at times, or was not read, is left out too.
REFUSED = frozenset(words("""set_ set_data addmv_ addr_ vmap cond while_loop map_ map2_ module_load from_file
    choose_qparams_optimized infinitely_differentiable_gelu_backward native_norm smm
    affine_grid_generator_backward conv_tbc_backward cummaxmin_backward cumprod_backward embedding_backward
    embedding_sparse_backward fake_quantize_per_channel_affine_cachemask_backward
    fake_quantize_per_tensor_affine_cachemask_backward gather_backward get_gradients index_select_backward
    masked_select_backward matrix_exp_backward mish_backward trace_backward value_selecting_reduction_backward"""))
REFUSED_PREFIXES = ("fbgemm_", "quantized_", "mkldnn_", "miopen_", "q_per_channel", "nested_")
# Private ones that are not trusted even where they are annotated.
UNTRUSTED = ("_test", "_nested", "_make_dep_token", "_cudnn", "_mkldnn", "_wrapped")

# Ops whose names begin with "_" follow no rule: of those without annotations these alone were read or called.
PRIVATE = frozenset(words("""_adaptive_avg_pool2d _adaptive_avg_pool3d _addmm_activation _aminmax _assert_async
    _assert_scalar _assert_tensor_metadata _cdist_forward _chunk_cat _convolution _ctc_loss
    _efficient_attention_backward _efficient_attention_forward _embedding_bag _embedding_bag_forward_only _fft_c2c
    _fft_c2r _fft_r2c _flash_attention_backward _flash_attention_forward _fused_dropout _fused_rms_norm
    _fused_sdp_choice _grouped_mm _histogramdd_from_bin_cts _histogramdd_from_bin_tensors _int_mm _is_all_true
    _is_any_true _is_zerotensor _linalg_check_errors _linalg_det _linalg_eigh _linalg_slogdet _linalg_solve_ex
    _linalg_svd _local_scalar_dense _log_softmax _log_softmax_backward_data _masked_softmax
    _native_batch_norm_legit_no_training _pdist_forward _pin_memory _prelu_kernel _print _safe_softmax
    _scaled_dot_product_attention_math _scaled_dot_product_cudnn_attention
    _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
    _scaled_dot_product_flash_attention_for_cpu _scaled_grouped_mm _scaled_grouped_mm_v2 _scaled_mm _scaled_mm_v2
    _shape_as_tensor _softmax _softmax_backward_data _stack _to_copy _trilinear _unique _unique2 _unsafe_index
    _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate _upsample_nearest_exact1d
    _upsample_nearest_exact2d _upsample_nearest_exact3d _weight_int4pack_mm _weight_int8pack_mm _weight_norm
    _weight_norm_interface"""))
