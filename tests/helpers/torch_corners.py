"""Calls at the corners of torch's functions: arguments that come back, and writes that no schema shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def corners() -> Iterator[Call]:
    """Arguments under which what is usually a copy is not one, and writes that no schema shows."""
    for part in (activations, joins, powers, spectra, conversions, recurrent, statistics, outputs, lists):
        yield from part()


def activations() -> Iterator[Call]:
    """Dropouts that train or do not, activations in place, initialisation."""
    x, image = torch.rand(4, 4), torch.rand(2, 4, 4, 4)
    for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"):
        yield f"torch.{name}", (x, 0.5, False), {}
        yield f"torch.{name}", (image, 0.5, True), {}
    for name in ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d"):
        for training in (False, True):
            for inplace in (False, True):
                flags = {"training": training, "inplace": inplace}
                yield f"torch.nn.functional.{name}", (torch.rand(2, 3, 4, 4),), flags
    for name in ("relu", "relu6", "silu", "mish", "elu", "selu", "celu", "hardswish", "hardsigmoid", "leaky_relu",
                 "rrelu"):  # fmt: skip
        yield f"torch.nn.functional.{name}", (torch.randn(4, 4),), {"inplace": True}
    yield "torch.nn.functional.threshold", (torch.randn(4, 4), 0.5, 1.0, True), {}
    yield "torch.nn.functional.hardtanh", (torch.randn(4, 4) * 9, -1.0, 1.0, True), {}
    for name in ("uniform_", "normal_", "trunc_normal_", "ones_", "zeros_", "xavier_uniform_", "orthogonal_", "eye_"):
        yield f"torch.nn.init.{name}", (torch.randn(4, 4),), {}


def joins() -> Iterator[Call]:
    """Lists of tensors, and what becomes of a list of one."""
    x, v, image = torch.rand(4, 4), torch.rand(4), torch.rand(2, 4, 4, 4)
    yield "torch.einsum", ("ij->ji", x), {}
    yield "torch.einsum", ("ij,jk->ik", x, x.clone()), {}
    yield "torch.einsum", (x, [0, 1], [1, 0]), {}
    for args in ((v,), (v, v.clone()), (x, v)):
        for name in ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "block_diag"):
            yield f"torch.{name}", args, {}
    for args in ((v,), (v, v.clone())):
        yield "torch.meshgrid", args, {"indexing": "ij"}
        yield "torch.meshgrid", (list(args),), {"indexing": "xy"}
        yield "torch.cartesian_prod", args, {}
        for name in ("cat", "stack", "hstack", "vstack", "dstack", "column_stack", "concat"):
            yield f"torch.{name}", (list(args),), {}
        yield "torch.nn.utils.rnn.pad_sequence", (list(args),), {}
        yield "torch.nn.utils.parameters_to_vector", (list(args),), {}
    yield "torch.chain_matmul", (x,), {}
    yield "torch.chain_matmul", (x, x.clone()), {}
    for name in ("channel_shuffle", "pixel_shuffle", "pixel_unshuffle"):
        yield f"torch.nn.functional.{name}", (image, 1), {}
        yield f"torch.ops.aten.{name}", (image, 1), {}


def powers() -> Iterator[Call]:
    """Powers, shifts, paddings and sizes that change nothing."""
    x, image = torch.rand(4, 4), torch.rand(2, 4, 4, 4)
    for power in (0, 1, 2):
        yield "torch.linalg.matrix_power", (x, power), {}
        yield "torch.matrix_power", (x, power), {}
        yield "torch.float_power", (x.double(), power), {}
        yield "torch.rot90", (x, power), {}
        yield "torch.roll", (x, power), {}
        yield "torch.diff", (x,), {"n": power}
    for pads in ((), (0, 0), (0, 0, 0, 0), (1, 1)):
        for mode in ("constant", "reflect", "replicate", "circular"):
            yield "torch.nn.functional.pad", (image, pads), {"mode": mode}
    for mode in ("nearest", "bilinear", "area", "nearest-exact", "bicubic"):
        yield "torch.nn.functional.interpolate", (image,), {"size": (4, 4), "mode": mode}
        yield "torch.nn.functional.interpolate", (image,), {"scale_factor": 1, "mode": mode}
    for size in (1, 4, None, (4, None)):
        yield "torch.nn.functional.adaptive_avg_pool2d", (image, size), {}
        yield "torch.nn.functional.adaptive_max_pool2d", (image, size), {}
    for name in ("avg_pool2d", "max_pool2d", "lp_pool2d"):
        yield f"torch.nn.functional.{name}", (image, 1, 1) if name != "lp_pool2d" else (image, 2, 1), {}
    yield "torch.nn.functional.max_pool2d", (image, 2), {"return_indices": True}


def spectra() -> Iterator[Call]:
    """Transforms and reductions over no dimension, selections of everything."""
    x, v, z = torch.rand(4, 4), torch.rand(4), torch.rand(3, 3, dtype=torch.complex64)
    for name in ("fftn", "ifftn", "fft2", "fftshift", "ifftshift", "hfftn", "ihfftn"):
        yield f"torch.fft.{name}", (z,), {"dim": ()}
        yield f"torch.fft.{name}", (z,), {}
    yield "torch.histogramdd", (torch.rand(9, 2), [v.sort().values, v.sort().values]), {}
    yield "torch.histogram", (x, v.sort().values), {}
    yield "torch.bucketize", (x, v.sort().values), {}
    yield "torch.sum", (x,), {"dim": ()}
    yield "torch.repeat_interleave", (x, 1), {"dim": 0}
    yield "torch.tile", (x, (1, 1)), {}
    yield "torch.clip", (x,), {"min": -9.0}
    yield "torch.nan_to_num", (torch.arange(4),), {}
    yield "torch.where", (x > 0, x, x.clone()), {}
    yield "torch.index_select", (x, 0, torch.arange(4)), {}
    yield "torch.take_along_dim", (x, torch.zeros(4, 4, dtype=torch.int64)), {}
    for name in ("floor", "ceil", "round", "trunc", "abs", "neg", "conj_physical", "real", "conj", "positive", "sgn"):
        for given in (torch.arange(4), v, torch.rand(3, dtype=torch.complex64)):
            yield f"torch.{name}", (given,), {}


def conversions() -> Iterator[Call]:
    """Tensors made from tensors and arrays."""
    x = torch.rand(4, 4)
    for source in ([1.0], x, x.numpy()):
        yield "torch.tensor", (source,), {}
        yield "torch.as_tensor", (source,), {}
        yield "torch.asarray", (source,), {}
    yield "torch.asarray", (x,), {"copy": True}
    yield "torch.from_dlpack", (x,), {}
    yield "torch.utils.dlpack.to_dlpack", (x,), {}
    for name in ("Parameter", "Buffer", "parameter.Parameter"):
        yield f"torch.nn.{name}", (x,), {"requires_grad": False} if "Par" in name else {}
    yield "torch.FloatTensor", (x,), {}
    yield "torch.FloatTensor", ([1.0, 2.0],), {}
    yield "torch.split", (x, 2), {}
    yield "torch.split", (x, [1, 3]), {"dim": 1}


def recurrent() -> Iterator[Call]:
    """Recurrent layers, which take their weights as a list."""
    for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        weights = [torch.rand(gates * 3, 2), torch.rand(gates * 3, 3), torch.rand(gates * 3), torch.rand(gates * 3)]
        hidden = torch.zeros(1, 4, 3)
        state: Any = [hidden, hidden.clone()] if name == "lstm" else hidden
        for steps in (1, 5):
            yield f"torch.{name}", (torch.rand(steps, 4, 2), state, weights, True, 1, 0.0, False, False, False), {}
        cell: Any = [hidden[0], hidden[0].clone()] if name == "lstm" else hidden[0]
        yield f"torch.{name}_cell", (torch.rand(4, 2), cell, *weights), {}


def statistics() -> Iterator[Call]:
    """Running statistics and renormalised embeddings."""
    image, weight = torch.rand(2, 4, 4, 4), torch.randn(5, 3) * 9

    def running() -> tuple[torch.Tensor, torch.Tensor]:
        return torch.rand(4), torch.rand(4)

    for training in (False, True):
        yield "torch.nn.functional.batch_norm", (image, *running()), {"training": training}
        yield "torch.nn.functional.batch_norm", (image, *running(), None, None, training), {}
        yield "torch.batch_norm", (image, None, None, *running(), training, 0.1, 1e-5, False), {}
        yield "torch.native_batch_norm", (image, None, None, *running(), training, 0.1, 1e-5), {}
        yield "torch.ops.aten._native_batch_norm_legit", (image, None, None, *running(), training, 0.1, 1e-5), {}
        yield "torch.ops.aten._batch_norm_impl_index", (image, None, None, *running(), training, 0.1, 1e-5, False), {}
        yield "torch.nn.functional.instance_norm", (image, *running()), {"use_input_stats": training}
        yield "torch.instance_norm", (image, None, None, *running(), training, 0.1, 1e-5, False), {}
        noise = torch.zeros(4, 4)
        yield "torch.ops.aten.rrelu_with_noise", (-torch.rand(4, 4), noise, 0.1, 0.3, training), {}
    yield "torch.nn.functional.instance_norm", (image, *running()), {}
    yield "torch.batch_norm_update_stats", (image, *running(), 0.1), {}
    ids = torch.tensor([0, 1, 4])
    for limit in (None, 0.5):
        yield "torch.nn.functional.embedding", (ids, weight), {"max_norm": limit}
        yield "torch.nn.functional.embedding_bag", (ids, weight, torch.tensor([0, 2])), {"max_norm": limit}
    yield "torch.embedding_renorm_", (weight.clone(), ids, 0.5, 2.0), {}


def outputs() -> Iterator[Call]:
    """Results written to what was given for them."""
    x = torch.rand(4, 4)
    for name in ("add", "mul", "matmul", "maximum"):
        yield f"torch.{name}", (x, x.clone()), {"out": torch.zeros(4, 4)}
    for name in ("max", "min", "sort", "median", "mode", "kthvalue", "cummax"):
        args = (x, 1) if name in {"sort", "kthvalue", "cummax"} else (x, 0)
        yield f"torch.{name}", args, {"out": (torch.zeros(0), torch.zeros(0, dtype=torch.int64))}
        yield f"torch.{name}", args, {}
    yield "torch.linalg.svd", (x,), {"out": (torch.zeros(4, 4), torch.zeros(4), torch.zeros(4, 4))}
    yield "torch.cat", ([x, x.clone()],), {"out": torch.zeros(8, 4)}
    yield "torch.ops.aten.add.out", (x, x.clone()), {"out": torch.zeros(4, 4)}
    yield "torch.nn.functional.normalize", (x,), {"out": torch.zeros(4, 4)}
    yield "torch.norm", (x,), {"out": torch.zeros(())}
    yield "torch.tensordot", (x, x.clone()), {"dims": 1, "out": torch.zeros(4, 4)}


def lists() -> Iterator[Call]:
    """Lists of tensors that are written."""

    def some() -> list[torch.Tensor]:
        return [torch.rand(3), torch.rand(2, 2)]

    for name in ("add_", "mul_", "copy_", "lerp_", "addcmul_", "sqrt_", "zero_", "neg_", "add", "sqrt", "norm"):
        extra = {"lerp_": (some(), 0.5), "addcmul_": (some(), some()), "sqrt_": (), "zero_": (), "neg_": (),
                 "sqrt": (), "norm": ()}.get(name, (some(),))  # fmt: skip
        yield f"torch._foreach_{name}", (some(), *extra), {}
    steps = [torch.ones(()), torch.ones(())]
    options = {"lr": 0.1, "beta1": 0.9, "beta2": 0.9, "weight_decay": 0.1, "eps": 1e-8, "amsgrad": True,
               "maximize": False}  # fmt: skip
    for name in ("_fused_adam_", "_fused_adamw_"):
        yield f"torch.{name}", (some(), some(), some(), some(), some(), steps), options
    yield "torch._amp_foreach_non_finite_check_and_unscale_", (some(), torch.zeros(1), torch.ones(1) / 3), {}
