"""Stand-ins for what is not installed: modules that give named missing values.

A missing value may be passed around, called, subclassed, entered or used as a decorator while a
file loads; whoever needs to know what it *is* (a truth value, a number, an iteration) gets a
error that says its name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NoReturn

from triton_mutlint.source.finder import HEAVY
from triton_mutlint.source.slicing.sandbox import Session
from triton_mutlint.source.torch_facts import ABSENT
from triton_mutlint.types import unwrap_constexpr

_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "xor", "or", "matmul")
_LONGEST = 2000  # characters of what is computed from a stand-in, as far as anybody writes it down
_TRUE_PREDICATES = {"cuda": frozenset({"is_cuda", "is_nvidia", "is_cuda_alike"})}
_TRUE_PREDICATES["hip"] = frozenset({"is_hip", "is_rocm", "is_amd", "is_cuda_alike"})
_PREDICATES = frozenset({
    "is_cuda", "is_nvidia", "is_cuda_alike", "is_hip", "is_rocm", "is_amd", "is_xpu", "is_npu",
    "is_cpu", "is_tpu", "is_hpu", "is_musa", "is_ascend", "is_mlu", "is_mps", "is_out_of_tree",
    "is_neuron", "is_maca", "is_metax", "is_iluvatar",
})  # fmt: skip


class _NeededError(BaseException):
    def __init__(self, value: Missing) -> None:
        super().__init__(f"`{value.mutlint_root}` {value.mutlint_reason}")
        self.value = value


class MissingValueError(_NeededError, Exception):
    """A jit body, or a callable kept from a file, needs the value of a missing name."""


class UndecidedError(_NeededError):
    """Code that runs while a file loads needs the value of a missing name.

    Not an `Exception`: `except Exception: return False` must not turn "not known" into an answer.
    """


def _may_be_run(value: object) -> bool:
    return (callable(value) or inspect.iscoroutine(value)) and not isinstance(value, (Missing, type))


def _passed_function(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    return len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], Missing)


class Missing:
    """A value that could not be had: where it would come from, and why it is not there.

    `mutlint_root` is the dotted name that a spec's `globals:` can give; `mutlint_path` the expression.
    """

    # Lets Triton's name lookup pass it, so that the error is raised where it is used, and is ours.
    __triton_builtin__ = True
    mutlint_path: str
    mutlint_root: str
    mutlint_reason: str

    mutlint_registry: StandIns

    def __init__(self, registry: StandIns, path: str, reason: str, root: str = "") -> None:
        self.__dict__.update(
            mutlint_path=path, mutlint_reason=reason, mutlint_root=root or path, mutlint_registry=registry,
            __name__=path.rpartition(".")[2], __qualname__=path, __doc__=None)

    def mutlint_derived(self, path: str) -> Missing:
        if len(path) > _LONGEST:
            raise self._endless()
        return Missing(self.mutlint_registry, path, self.mutlint_reason, self.mutlint_root)

    def _endless(self) -> UndecidedError:
        """What ends a loop that goes from one stand-in to the next, each of which is a new one."""
        start = ".".join(self.mutlint_root.split(".")[:3])
        reason = f"{self.mutlint_reason}, and a loop follows it on and on"
        return UndecidedError(self.mutlint_registry.missing(start, reason))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if not self.mutlint_registry.session.is_open:
            raise MissingValueError(self)
        value = self.mutlint_derived(f"{self.mutlint_path}.{name}")
        if self.mutlint_root == self.mutlint_path:  # not an expression: facts and the spec may know it
            value = self.mutlint_registry.attribute(value.mutlint_path, self)
        self.__dict__[name] = value
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_semantic" in kwargs or "_builder" in kwargs or not self.mutlint_registry.session.is_open:
            raise MissingValueError(self)
        if self.mutlint_root.partition(".")[0] in sys.stdlib_module_names and any(
                map(_may_be_run, (*args, *kwargs.values()))):
            self._refuse()  # what it is given may be run at once, by another thread or an event loop
        if _passed_function(args, kwargs):
            return args[0]  # a decorator that is not installed leaves its function alone
        answer = self.mutlint_registry.predicate(self.mutlint_path)
        return self.mutlint_derived(f"{self.mutlint_path}()") if answer is None else answer

    def __getitem__(self, key: object) -> Missing:
        return self.mutlint_derived(f"{self.mutlint_path}[…]")

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__[name] = value

    def __setitem__(self, key: object, value: object) -> None:
        """Configuration of something that is not there."""

    def __enter__(self) -> Missing:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()  # a class may be derived from it

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, cls: type) -> bool:
        return False

    def __hash__(self) -> int:
        return hash(self.mutlint_path)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, Missing) and other.mutlint_path == self.mutlint_path:
            return True
        return self.mutlint_derived(f"{self.mutlint_path} == …")

    def __ne__(self, other: object) -> Any:
        if isinstance(other, Missing) and other.mutlint_path == self.mutlint_path:
            return False
        return self.mutlint_derived(f"{self.mutlint_path} != …")

    def _refuse(self, *args: object) -> NoReturn:
        raise (UndecidedError if self.mutlint_registry.session.is_open else MissingValueError)(self)

    __bool__ = __len__ = __iter__ = __next__ = __contains__ = _refuse
    __int__ = __float__ = __index__ = __complex__ = __round__ = _refuse

    def __repr__(self) -> str:
        return f"<missing {self.mutlint_path}>"

    def __copy__(self) -> Missing:
        return self

    def __deepcopy__(self, memo: object) -> Missing:
        return self


def _operator(name: str) -> Callable[..., Missing]:
    def operate(self: Missing, *others: object) -> Missing:
        return self.mutlint_derived(f"{self.mutlint_path} {name} …")

    return operate


for _name in _BINARY:
    setattr(Missing, f"__{_name}__", _operator(_name))
    setattr(Missing, f"__r{_name}__", _operator(_name))
for _name in ("lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
    setattr(Missing, f"__{_name}__", _operator(_name))


class StandIns:
    """Makes stand-in modules and their attributes.

    `given` are the spec's `globals:`; `facts` are values known without the module (`torch.version`).
    While no `session` is open, a call of a missing value is an error.
    """

    def __init__(self, given: Mapping[str, object], facts: Mapping[str, object], backend: str,
                 session: Session) -> None:
        self._facts = {**facts, **given}
        self._inner = {p.rsplit(".", i)[0] for p in self._facts for i in range(1, p.count(".") + 1)}
        self._true = _TRUE_PREDICATES.get(backend, frozenset())
        self._modules: dict[str, ModuleType] = {}
        self.session = session

    def module(self, name: str) -> ModuleType:
        """The stand-in for module `name`: a plain `ModuleType`, which Triton's name lookup accepts."""
        if name not in self._modules:
            module = ModuleType(name)
            module.__dict__["__path__"] = []

            def lookup(attribute: str) -> Any:
                path = f"{name}.{attribute}"
                if path in ABSENT or (attribute.startswith("__") and attribute != "__version__"):
                    raise AttributeError(f"module '{name}' has no attribute '{attribute}'")
                value = self.attribute(path)
                setattr(module, attribute, value)
                return value

            module.__dict__["__getattr__"] = lookup
            self._modules[name] = module
        return self._modules[name]

    def attribute(self, path: str, owner: Missing | None = None) -> Any:
        """The value at a dotted path: given, known, or missing for the reason its owner is."""
        if path in self._facts:
            return self._facts[path]
        if path in self._inner:
            return self.module(path)
        return Missing(self, path, owner.mutlint_reason if owner is not None else _why(path))

    def missing(self, path: str, reason: str) -> Missing:
        return Missing(self, path, reason)

    def predicate(self, path: str) -> bool | None:
        """What `….is_cuda()` and its kind answer: the target decides them."""
        name = path.rpartition(".")[2]
        return name in self._true if name in _PREDICATES else None


def _why(path: str) -> str:
    top = path.partition(".")[0]
    if top in sys.stdlib_module_names:
        return "is not run while a file is loaded"
    if top in HEAVY:
        return "is not imported while a file is loaded"
    if top != "triton":
        return "is not installed"
    import triton

    return f"is not in the installed triton {triton.__version__}"


def find_missing(value: object) -> Missing | None:
    """The missing value that `value` is, or holds as a constexpr or in a tuple."""
    value = unwrap_constexpr(value)
    if isinstance(value, Missing):
        return value
    if isinstance(value, (tuple, list)):
        return next((missing for item in value[:64] if (missing := find_missing(item)) is not None), None)
    return None


def is_stand_in(module: ModuleType) -> bool:
    """Whether a module stands in for one that is not imported."""
    return "__getattr__" in vars(module) and "__file__" not in vars(module) and not vars(module).get("__spec__")
