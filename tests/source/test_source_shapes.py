"""The shapes that kernels come in: nested, wrapped, assigned, tuned, in packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_mutlint.source.jit.launched import launches
from triton_mutlint.source.outline import outline
from triton_mutlint.types import FileResult, Kernel, parse_source

STORE = "    tl.store(x, 1)\n"


def kernels(result: FileResult) -> list[str]:
    return [kernel.name for kernel in result.kernels]


def the_kernel(result: FileResult) -> Kernel:
    assert result.failures == ()
    (kernel,) = result.kernels
    return kernel


# ------------------------------------------------------------------ decorators and assignments


@pytest.mark.parametrize(
    "above",
    [
        "@registry()",
        "@absent.wrap(1, key='x')",
        "@libentry()\n@libtuner(configs=[triton.Config({'B': 8})], key=['n'])",
        "@wraps_it",
        "@triton.heuristics({'B': lambda args: 16})",
    ],
)
def test_decorators_between_jit_and_the_name(load_text, above: str) -> None:
    result = load_text(
        f"""
import absent
from functools import wraps
from absent.runtime import libentry, libtuner
class Wrapper:
    def __init__(self, fn):
        self.fn = fn
def registry():
    raise RuntimeError("needs a device")
def wraps_it(fn):
    @wraps(fn)
    def inner(*args):
        return fn(*args)
    return inner
{above}
@triton.jit
def k(x, n, B: tl.constexpr):
{STORE}
"""
    )
    assert type(the_kernel(result).jit).__name__ == "JITFunction"


@pytest.mark.parametrize(
    "decorator",
    [
        "@triton.jit(do_not_specialize=['n'])",
        "@triton.jit(repr=lambda spec: absent_name)",
        "@triton.jit(noinline=absent.flag, debug=True)",
        "@partial(triton.jit, do_not_specialize=['n'])",
        "@my_jit",
        "@fast_jit",
        "@absent.triton_jit",
    ],
)
def test_forms_of_the_jit_decorator(load_text, decorator: str) -> None:
    kernel = the_kernel(
        load_text(
            f"""
import absent
from functools import partial
def my_jit(fn):
    return triton.jit(fn)
fast_jit = triton.jit(do_not_specialize=["n"])
{decorator}
def k(x, n):
{STORE}
"""
        )
    )
    assert kernel.parameter_names == ("x", "n")


def test_kernels_made_by_assignment(load_text) -> None:
    result = load_text(
        """
        def plain(x):
            tl.store(x, 1)
        plain = triton.jit(plain)
        def _body(x, B):
            tl.store(x, 1)
        named = triton.jit(do_not_specialize=["x"])(_body)
        @triton.jit
        def base(x, B: tl.constexpr):
            tl.store(x, 1)
        tuned = triton.autotune(configs=[triton.Config({"B": 4}), triton.Config({"B": 8})], key=[])(base)
        """
    )
    assert kernels(result) == ["plain", "named", "base"]
    assert result.kernels[1].node.name == "_body"
    tuned = result.kernels[2].autotune
    assert tuned is not None
    assert [config.kwargs["B"] for config in tuned.configs] == [4, 8]


def test_autotune_is_read_argument_by_argument(load_text) -> None:
    kernel = the_kernel(
        load_text(
            """
            import absent
            def configs():
                return [triton.Config({"B": b, "S": 2}, num_warps=w, pre_hook=hook if b == 8 else None)
                        for b in (8, 16) for w in (2, 4)]
            def hook(args):
                args["x"].zero_()
            @triton.autotune(
                configs=configs(),
                key=["not_a_parameter", absent.key()],
                prune_configs_by={"perf_model": absent.model[0] > 1},
                restore_value=["x"],
                reset_to_zero=["y"],
                pre_hook=hook,
            )
            @triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0, "BAD": absent.f() + 1 > 2 or 1})
            @triton.jit
            def k(x, y, n, B: tl.constexpr, S: tl.constexpr, EVEN: tl.constexpr, BAD: tl.constexpr):
                tl.store(x, 1)
            """
        )
    )
    tuned = kernel.autotune
    assert tuned is not None
    assert [dict(c.kwargs) for c in tuned.configs] == [
        {"B": 8, "S": 2}, {"B": 8, "S": 2}, {"B": 16, "S": 2}, {"B": 16, "S": 2}
    ]  # fmt: skip
    assert [c.options["num_warps"] for c in tuned.configs] == [2, 4, 2, 4]
    assert [c.has_pre_hook for c in tuned.configs] == [True, True, False, False]
    assert (tuned.restore_value, tuned.reset_to_zero) == (("x",), ("y",))
    assert (tuned.has_pre_hook, tuned.has_post_hook, tuned.line) == (True, False, 10)
    assert kernel.heuristics["EVEN"]({"n": 32, "B": 8}) is True
    assert list(kernel.heuristics) == ["EVEN"]
    assert kernel.notes == ("the heuristics on line 18 could not be evaluated",)


def test_configs_that_need_what_is_missing_are_noted(load_text) -> None:
    kernel = the_kernel(
        load_text(
            """
            from absent import get_configs
            @triton.autotune(configs=get_configs("k"), key=[])
            @triton.jit
            def k(x):
                tl.store(x, 1)
            """
        )
    )
    assert kernel.notes == ("the autotune configs on line 5 could not be evaluated",)


def test_a_projects_own_autotune_decorator(load_text, write) -> None:
    write("tune.py", "def cache_autotune(configs, key=None, **kw):\n    return lambda fn: object()\n")
    kernel = the_kernel(
        load_text(
            """
            from tune import cache_autotune
            def my_autotune(fn):
                return triton.autotune(configs=[triton.Config({"B": 2})], key=[])(fn)
            @cache_autotune(configs=[triton.Config({"A": 1})], key=["n"])
            @my_autotune
            @triton.jit
            def k(x, A: tl.constexpr, B: tl.constexpr):
                tl.store(x, 1)
            """
        )
    )
    assert kernel.autotune is not None
    assert [dict(c.kwargs) for c in kernel.autotune.configs] == [{"B": 2}, {"A": 1}]


def test_a_decorator_that_replaces_a_helper(load_text) -> None:
    """What a kernel then calls is the replacement, so its body is the one to analyse."""
    kernel = the_kernel(
        load_text(
            """
            def use_builtin(fn):
                return getattr(tl, fn.__name__)
            @use_builtin
            @triton.jit
            def exp(x):
                return x
            @triton.jit
            def k(x):
                tl.store(x, exp(tl.load(x)))
            """
        )
    )
    assert kernel.namespace["exp"].__module__.startswith("triton.language")


# ------------------------------------------------------------------ nested


def test_nested_kernels_and_their_closures(load_text) -> None:
    result = load_text(
        """
        SCALE = tl.constexpr(3)
        def outer(n, width: int = 8, *, flag=True):
            import math
            local = tl.constexpr(math.floor(2.5) + width)
            @triton.jit
            def helper(v):
                return v + local
            @triton.jit
            def inner(x):
                tl.store(x, helper(1) + SCALE)
            @triton.jit
            def needs_n(x):
                tl.store(x, n)
            return inner
        class Box:
            depth = tl.constexpr(2)
            @staticmethod
            @triton.jit
            def method(x):
                tl.store(x, 1)
            def call(self):
                @triton.jit
                def deep(x):
                    tl.store(x, 1)
                return deep
        """
    )
    assert [k.qualname for k in result.kernels] == ["outer.inner", "Box.method", "Box.call.deep"]
    assert [h.qualname for h in result.helpers] == ["outer.helper"]
    assert result.kernels[0].namespace["local"].value == 10
    ((name, failure),) = result.failures
    assert name == "needs_n"
    assert failure.message == "kernel needs_n needs `n`, which is an argument of the enclosing function `outer`"
    assert failure.hint.startswith("give `n` in the spec under `globals:` (a function of the file as `{ref: name}`)")
    assert failure.hint.endswith("or give what `outer` makes a name at the top level of this file: `kernel = outer(…)`")


@pytest.mark.parametrize(("call", "is_known"), [
    ("build()", True), ("build(False)", True), ("build(flag=False)", True), ("build(True)", False),
    ("build(flag=True)", False), ("build(*FLAGS)", False), ("build(**FLAGS)", False), ("self.build(flag=True)", False),
])
def test_a_default_of_a_factory_holds_where_no_call_gives_another_value(load_text, call: str, is_known: bool) -> None:
    result = load_text(f"""
        def build(flag=False):
            FLAG = tl.constexpr(flag)
            @triton.jit
            def k(x, y):
                tl.store(y, 1)
                if FLAG:
                    tl.store(x, 1)
            return k
        def run(x, y):
            {call}[(1,)](x, y)
    """)
    assert bool(result.kernels) is is_known
    if not is_known:
        ((name, failure),) = result.failures
        assert name == "k"
        assert "`flag`, which is an argument of the enclosing function `build`, which line" in failure.message


def test_closures_from_the_spec(load_text) -> None:
    text = """
    def outer(n):
        @triton.jit
        def k(x):
            tl.store(x, n)
    """
    kernel = the_kernel(load_text(text, globals_={"n": 4}))
    assert kernel.jit.__globals__["n"].value == 4


def test_triton_imported_inside_the_function(load_text) -> None:
    result = load_text(
        """
        def make():
            try:
                import triton
                import triton.language as tl
            except ImportError:
                return None
            @triton.jit
            def k(x):
                tl.store(x, 1)
            return k
        """,
        header="",
    )
    assert the_kernel(result).qualname == "make.k"


# ------------------------------------------------------------------ Triton's other constructs


def test_what_bodies_may_refer_to(load_text) -> None:
    result = load_text(
        """
        from enum import Enum
        from typing import NamedTuple
        from dataclasses import dataclass
        BLOCK: tl.constexpr = tl.constexpr(8)
        class Mode(Enum):
            A = 1
        class Pair(NamedTuple):
            a: tl.tensor
            b: tl.tensor
        @dataclass(frozen=True)
        class Options:
            width: int = BLOCK.value
        WIDTH = tl.constexpr(Options().width)
        @triton.constexpr_function
        def double(n):
            return 2 * n
        @tl.core.extern
        def intrinsic(x, _semantic=None):
            return x
        @tl.core._aggregate
        class State:
            value: tl.tensor
            @triton.constexpr_function
            def __init__(self, value):
                self.value = value
            @triton.jit
            def bump(self):
                return self.value + WIDTH
        class Ops:
            @staticmethod
            @triton.jit
            def add(a, b):
                return a + b
        @triton.jit
        def k(x, FN: tl.constexpr = Ops.add, MODE: tl.constexpr = Mode.A):
            s = State(tl.load(x))
            p = Pair(s.bump(), s.value)
            tl.store(x + double(BLOCK), Ops.add(p.a, intrinsic(p.b)))
        """
    )
    assert kernels(result) == ["k"]
    assert [h.qualname for h in result.helpers] == ["Ops.add"]
    assert result.failures == ()
    assert result.kernels[0].namespace["WIDTH"].value == 8


# ------------------------------------------------------------------ packages


def test_first_party_modules(load_text, write) -> None:
    write("pkg/__init__.py", "from .first import *\nraise RuntimeError('imported')\n")
    write("pkg/first.py", "from pkg.second import helper as exported\n__all__ = ['exported']\n")
    write("pkg/second.py", "import triton\nfrom .sub.third import W\n@triton.jit\ndef helper(x): return x + W\n")
    write("pkg/sub/third.py", "import pkg.first\nfrom triton import language as tl\nW = tl.constexpr(4)\n")
    result = load_text(
        """
        from . import second
        from .first import *
        from pkg import exported as again
        import pkg.second as mod
        @triton.jit
        def k(x):
            tl.store(x, exported(1) + again(2) + mod.helper(3) + second.helper(4))
        """,
        name="pkg/kernels.py",
    )
    kernel = the_kernel(result)
    assert kernel.namespace["exported"] is kernel.namespace["again"] is kernel.namespace["mod"].helper
    names = {path.name for path in result.sources}
    assert {"kernels.py", "second.py", "third.py"} <= names


def test_circular_imports(load_text, write) -> None:
    write("a.py", "import triton\nfrom kernels import BASE\n@triton.jit\ndef helper(x):\n    return x + BASE\n")
    write("kernels.py", "import triton.language as tl\nfrom a import helper\nBASE = tl.constexpr(2)\n")
    result = load_text(
        """
        from a import helper
        BASE = tl.constexpr(2)
        @triton.jit
        def k(x):
            tl.store(x, helper(1))
        """
    )
    assert the_kernel(result).namespace["helper"].__globals__["BASE"].value == 2


def test_constants_that_need_each_other(load_text) -> None:
    ((_, failure),) = load_text(
        "A = B + 1\nB = A + 1\n@triton.jit\ndef k(x):\n    tl.store(x, A)\n"
    ).failures
    assert failure.message == "kernel k needs `A`, which could not be computed (NameError: name 'B' is not defined)"


def test_namespace_package_roots(load_text, write) -> None:
    write("pyproject.toml", "")
    write("src/space/lib/consts.py", "import triton.language as tl\nW = tl.constexpr(5)\n")
    result = load_text(
        "from space.lib.consts import W\n@triton.jit\ndef k(x):\n    tl.store(x, W)\n", name="src/space/ops/deep/k.py"
    )
    assert the_kernel(result).namespace["W"].value == 5


def test_what_is_not_installed_is_named(load_text) -> None:
    text = """
    import vllm.envs as envs
    from vllm.scalars import SCALE
    import vllm
    class Base(vllm.Module, metaclass=type):
        pass
    TABLE = {vllm.float32: tl.float32}
    @vllm.register("op", mutates=["x"])
    @triton.jit
    def unguarded(x):
        tl.store(x, envs.MAX_LANES)
    @triton.jit
    def through_helper(x):
        tl.store(x, helper())
    @triton.jit
    def helper():
        return SCALE
    @triton.jit
    def guarded(x, FAST: tl.constexpr):
        if FAST:
            tl.store(x, SCALE)
        tl.store(x, 1)
    @triton.jit
    def unconcerned(x):
        tl.store(x, 1)
    """
    result = load_text(text)
    assert kernels(result) == ["guarded", "unconcerned"]
    assert "`vllm.scalars.SCALE` is not installed" in result.kernels[0].notes[0]
    (first, why), (second, why_too) = result.failures
    assert (first, second) == ("unguarded", "through_helper")
    assert why.message == "kernel unguarded needs `vllm.envs.MAX_LANES`, which is not installed"
    assert why.hint == "give `vllm.envs.MAX_LANES` in the spec under `globals:`"
    assert why.location is not None
    assert why.location.line == 13
    assert "`vllm.scalars.SCALE`" in why_too.message
    given = load_text(text, globals_={"vllm.envs.MAX_LANES": 32, "vllm.scalars.SCALE": 2.0})
    assert given.failures == ()
    assert kernels(given) == ["unguarded", "through_helper", "guarded", "unconcerned"]


def test_a_default_that_is_not_there_is_no_default(load_text) -> None:
    kernel = the_kernel(
        load_text(
            """
            import torch
            from absent import platform
            INFO = torch.finfo(platform.fp8_dtype())
            @triton.jit
            def k(x, LOW: tl.constexpr = INFO.min, HIGH: tl.constexpr = 4):
                tl.store(x, HIGH)
            """
        )
    )
    assert [p.has_default for p in kernel.parameters] == [False, False, True]


def test_a_module_that_makes_names_on_demand(load_text, write) -> None:
    write("platforms.py", "def __getattr__(name):\n    raise RuntimeError('asks a device')\n")
    kernel = the_kernel(
        load_text(
            """
            from platforms import current
            WIDTH = tl.constexpr(64 if current.is_rocm() else 32)
            @triton.jit
            def k(x):
                tl.store(x, WIDTH)
            """
        )
    )
    assert kernel.namespace["WIDTH"].value == 32


def test_a_missing_value_says_so_when_it_is_used_after_loading(load_text) -> None:
    from triton_mutlint.source.slicing.stubs import MissingValueError

    result = load_text(
        """
        from absent import pick
        @triton.heuristics({"B": lambda args: pick(args["n"])})
        @triton.jit
        def k(x, n, B: tl.constexpr):
            tl.store(x, 1)
        """
    )
    with pytest.raises(MissingValueError, match=r"`absent.pick` is not installed"):
        the_kernel(result).heuristics["B"]({"n": 3})


def test_what_the_installed_triton_lacks(load_text) -> None:
    ((_, failure),) = load_text(
        """
        from triton.language.extra.vendor import special
        @triton.jit
        def k(x):
            tl.store(x, special(1))
        """
    ).failures
    assert "`triton.language.extra.vendor.special`, which is not in the installed triton" in failure.message
    assert "vendor" in failure.hint


def test_undefined_names(load_text) -> None:
    ((_, failure),) = load_text("@triton.jit\ndef k(x):\n    tl.store(x, NOWHERE)\n").failures
    assert failure.message == "kernel k needs `NOWHERE`, which is not defined"


def test_a_broken_first_party_module(load_text, write) -> None:
    write("broken.py", "def (:\n")
    result = load_text("from broken import h\n@triton.jit\ndef k(x):\n    tl.store(x, h(1))\n")
    ((_, failure),) = result.failures
    assert "`broken.h`" in failure.message


# ------------------------------------------------------------------ launches


def test_launched_names() -> None:
    text = """
a[(1,)](x)
wrap_triton(b)[grid](x)
c.run(x, grid=(1,))
d.warmup(x)
fn = e if fast else f
fn[grid](x)
TABLE = {1: g, 2: h}
TABLE[key][grid](x)
mod.i[grid](x)
launch(j, grid)
k[grid](x, ACT=act)
@triton.jit
def body(x):
    tl.reduce(x, 0, combine)
"""
    found = launches(outline(parse_source(text, "f", "f")))
    found = found.direct | found.passed
    assert found >= {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
    assert not found & {"act", "combine", "body"}


# ------------------------------------------------------------------ --import


def test_true_import(load_text, write) -> None:
    write("pkg/__init__.py", "")
    write("pkg/consts.py", "import triton.language as tl\nW = tl.constexpr(5)\n")
    text = "from .consts import W\n@triton.jit\ndef k(x):\n    tl.store(x, W)\n@triton.jit\ndef h(x):\n    return x\n"
    path = write("pkg/true_kernels.py", "import triton\nimport triton.language as tl\n" + text)
    result = load_text(text, name="pkg/true_kernels.py", true_import=True)
    kernel = the_kernel(result)
    assert (kernel.name, kernel.path) == ("k", path)
    assert [h.name for h in result.helpers] == ["h"]


@pytest.mark.parametrize("problem", ["raise SystemExit(3)", "import mutlint_absent", "1 / 0"])
def test_true_import_fails_as_a_result(load_text, write, tmp_path: Path, problem: str) -> None:
    text = f"@triton.jit\ndef k(x):\n    tl.store(x, 1)\n{problem}\n"
    write("failing.py", "import triton\nimport triton.language as tl\n" + text)
    ((name, failure),) = load_text(text, name="failing.py", true_import=True).failures
    assert name == ""
    assert failure.message.startswith("importing failing.py failed: ")
    assert failure.location is not None
    assert failure.location.line == 6


def test_a_kernel_in_a_branch_that_is_not_taken_sees_what_stands_beside_it(load_text) -> None:
    """Its own device is another one; there, the helper is defined."""
    result = load_text(
        """
        if False:
            SIZE = tl.constexpr(4)
            @triton.jit
            def helper(x):
                return tl.load(x)
            @triton.jit
            def k(x, n: tl.constexpr):
                if n:
                    tl.store(x, helper(x) + SIZE)
        """
    )
    kernel = the_kernel(result)
    assert kernel.jit.__globals__["SIZE"].value == 4
    assert kernel.jit.__globals__["helper"].fn.__name__ == "helper"
