"""Block shapes of host descriptors, which the hook of an autotune config sets before each launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from triton_mutlint.signature.configs import Tuned
from triton_mutlint.types import ArgType, ConstexprValue, DescriptorType


def with_block_shapes(configs: tuple[Tuned, ...], guesses: Mapping[str, tuple[ArgType, ...]]) -> tuple[Tuned, ...]:
    """The configs, each with the shapes that its hook gives to descriptors that were only guessed.

    `guesses` holds the alternatives of every parameter that was guessed. A hook is run on stand-ins;
    of one that fails on them, such as for a tensor to zero, what it had set by then counts.
    """
    single = {name: values[0] for name, values in guesses.items() if len(values) == 1}
    descriptors = {name: type_ for name, type_ in single.items() if isinstance(type_, DescriptorType)}
    if not descriptors or find_spec("triton.tools.tensor_descriptor") is None:  # before Triton 3.4 there are none
        return configs
    plain = {name: v[0].value for name, v in guesses.items() if isinstance(v[0], ConstexprValue)}
    return tuple(_hooked(config, descriptors, plain) if config.hook else config for config in configs)


def _hooked(config: Tuned, descriptors: Mapping[str, DescriptorType], plain: Mapping[str, Any]) -> Tuned:
    given = {name: value.value for name, value in config.args.items() if isinstance(value, ConstexprValue)}
    stand_ins = {name: _stand_in(type_) for name, type_ in descriptors.items() if name not in config.args}
    try:
        config.hook({**plain, **config.options, **given, **stand_ins})
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: S110 - foreign code on placeholders: SystemExit included
        pass
    shaped = {name: _shaped(descriptors[name], stand_in) for name, stand_in in stand_ins.items()}
    return replace(config, args={**config.args, **{name: type_ for name, type_ in shaped.items() if type_}})


def _stand_in(type_: DescriptorType) -> Any:
    """A descriptor without a tensor: hooks ask for the class, and assign to `block_shape`."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    made = object.__new__(TensorDescriptor)
    made.block_shape = list(type_.block_shape)
    return made


def _shaped(type_: DescriptorType, stand_in: Any) -> DescriptorType | None:
    shape = stand_in.block_shape
    if not isinstance(shape, (list, tuple)) or not all(type(n) is int and n > 0 for n in shape):
        return None
    return replace(type_, block_shape=tuple(shape))
