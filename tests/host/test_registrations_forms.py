"""Torch's own ways to register an op."""

from pathlib import Path

from tests.helpers.registration_case import HEAD, both, functions, register, shown

FIRST = HEAD.count("\n") + 1  # the line of what a test writes


def test_a_decorator(tmp_path: Path) -> None:
    (op,) = register(tmp_path, """\
        @custom_op("a::f", mutates_args=("out", "x"))
        def f(x: Tensor, out: Tensor) -> None: ...
    """)
    assert shown((op,)) == [("a::f", "custom_op", ("out", "x"), ["f"])]
    assert (op.location.file, op.location.line, op.location.column) == ("ops.py", FIRST, 2)
    declared = op.declaration
    assert (declared.stated, declared.span) == (True, (FIRST, 32, FIRST, 44))
    assert (declared.place.line, declared.place.column) == (FIRST, 33)
    assert op.arguments == ()


def test_calls(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        def f(x: Tensor, out: Tensor) -> None: ...
        whole = torch.library.custom_op("a::whole", f, mutates_args={"out"})
        curried = custom_op("a::curried", mutates_args=["x"])(f)
        triton_op("a::triton", f, mutates_args=())
        functools.partial(custom_op, mutates_args=["out"])("a::partial", f)
    """)
    assert shown(ops) == [
        ("a::whole", "custom_op", ("out",), ["f"]), ("a::curried", "custom_op", ("x",), ["f"]),
        ("a::triton", "triton_op", (), ["f"]), ("a::partial", "custom_op", ("out",), ["f"]),
    ]  # fmt: skip


def test_decorators_above_and_below(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        @log
        @custom_op("a::f", mutates_args=())
        @torch.no_grad()
        @functools.wraps(print)
        def f(x: Tensor) -> Tensor: ...
    """)
    assert shown(ops) == [("a::f", "custom_op", (), ["f"])]


def test_import_aliases(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        import torch as th
        import torch.library as lib
        from torch import library
        from torch.library import custom_op as register, triton_op as triton_register
        make = library.custom_op
        @th.library.custom_op("a::one", mutates_args=())
        def one(x: Tensor) -> Tensor: ...
        @lib.custom_op("a::two", mutates_args=())
        def two(x: Tensor) -> Tensor: ...
        @register("a::three", mutates_args=())
        def three(x: Tensor) -> Tensor: ...
        @triton_register("a::four", mutates_args=())
        def four(x: Tensor) -> Tensor: ...
        @make("a::five", mutates_args=())
        def five(x: Tensor) -> Tensor: ...
    """)
    assert [op.name for op in ops] == ["a::one", "a::two", "a::three", "a::four", "a::five"]
    assert [op.form.value for op in ops] == ["custom_op"] * 3 + ["triton_op", "custom_op"]


def test_a_star_import_of_torchs_library(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        @custom_op("a::f", mutates_args=())
        def f(x): ...
    """, head="from torch.library import *\n")
    assert [op.name for op in ops] == ["a::f"]


def test_one_of_two_functions_by_version_is_the_triton_op(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        if hasattr(torch.library, "triton_op"):
            make = torch.library.triton_op
        else:
            make = torch.library.custom_op
        @make("a::f", mutates_args=["x"])
        def f(x: Tensor) -> None: ...
        try:
            from torch.library import triton_op as other
        except ImportError:
            other = None
        @other("a::g", mutates_args=["x"])
        def g(x: Tensor) -> None: ...
    """)
    assert shown(ops) == [("a::f", "triton_op", ("x",), ["f"]), ("a::g", "triton_op", ("x",), ["g"])]


def test_implementations_for_devices(tmp_path: Path) -> None:
    (op,) = register(tmp_path, """\
        @custom_op("a::f", mutates_args=())
        def f(x: Tensor) -> Tensor: ...
        @f.register_kernel("cuda")
        def f_cuda(x): ...
        @torch.library.register_kernel("a::f", "cpu")
        def f_cpu(x): ...
        torch.library.register_kernel(torch.ops.a.f.default, "xpu", lambda x: x)
        @f.register_fake
        def f_fake(x): ...
        @torch.library.register_fake("a::f")
        def f_fake_too(x): ...
        f.register_autograd(lambda ctx, g: g, setup_context=print)
        torch.library.register_autograd("a::f", lambda ctx, g: g)
    """)
    assert functions(op) == ["f", "f_cuda", "f_cpu", "<lambda>"]


def test_define_and_impl(tmp_path: Path) -> None:
    (op,) = register(tmp_path, """\
        torch.library.define("a::f", "(Tensor x, Tensor(a!)? out, *, Tensor(b!)[] more) -> ()")
        @torch.library.impl("a::f", "cuda")
        def f_cuda(x, out, *, more): ...
        @torch.library.impl("a::f", ["cpu", "xpu"])
        def f_cpu(x, out, *, more): ...
        @torch.library.impl("a::f", "Meta")
        def f_meta(x, out, *, more): ...
        @torch.library.impl("a::f", "AutogradCUDA")
        def f_backward(x, out, *, more): ...
    """)
    assert shown((op,)) == [("a::f", "define", ("out", "more"), ["f_cuda", "f_cpu"])]
    assert op.arguments == ("x", "out", "more")
    assert (op.declaration.span, op.declaration.place.line) == (None, FIRST)


def test_a_library(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        lib = Library("a", "FRAGMENT")
        lib.define("f(Tensor(a!) x) -> ()")
        lib.define("f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", tags=())
        lib.define("g" + "(Tensor x) -> " + "Tensor")
        def f(x): ...
        lib.impl("f", f, "CUDA")
        lib.impl("f", lambda x: None, "Meta")
        @torch.library.impl(lib, "f.out", "CUDA")
        def f_out(x, *, out): ...
        @lib.impl("g", "CPU")
        def g(x): ...
        @torch.library.define(lib, "h(Tensor x) -> Tensor")
        def h(x): ...
        with torch.library._scoped_library("b", "DEF") as other:
            other.define("i(Tensor x) -> Tensor")
            other.impl("i", f, "CUDA")
    """)
    assert shown(ops) == [
        ("a::f", "define", ("x",), ["f"]), ("a::f.out", "define", ("out",), ["f_out"]), ("a::g", "define", (), ["g"]),
        ("a::h", "define", (), ["h"]), ("b::i", "define", (), ["f"]),
    ]  # fmt: skip


def test_an_inferred_schema(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        lib = Library("a", "FRAGMENT")
        def f(x: Tensor, out: Tensor) -> None: ...
        lib.define("f" + infer_schema(f, mutates_args=["out"]))
        lib.impl("f", f, "CUDA")
        lib.define(infer_schema(f, op_name="g", mutates_args=()))
        torch.library.define("a::h", torch.library.infer_schema(f, mutates_args=("x",)))
    """)
    assert shown(ops) == [
        ("a::f", "define", ("out",), ["f"]), ("a::g", "define", (), ["f"]), ("a::h", "define", ("x",), ["f"])]
    assert ops[0].declaration.span == (FIRST + 2, 46, FIRST + 2, 53)


def test_a_schema_argument(tmp_path: Path) -> None:
    (op,) = register(tmp_path, """\
        @custom_op("a::f", mutates_args=["y"], schema="(Tensor x, Tensor(a!) y) -> ()")
        def f(x, y): ...
    """)
    assert shown((op,)) == [("a::f", "custom_op", ("y",), ["f"])]
    assert (op.arguments, op.declaration.problems) == (("x", "y"), ())


def test_two_registrations_of_one_name(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        if torch.version.hip:
            @custom_op("a::f", mutates_args=())
            def f(x: Tensor) -> Tensor: ...
        else:
            @custom_op("a::f", mutates_args=["x"])
            def f(x: Tensor) -> None: ...
    """)
    assert shown(ops) == [("a::f", "custom_op", (), ["f"]), ("a::f", "custom_op", ("x",), ["f"])]
    assert ops[0].functions != ops[1].functions


def test_methods_and_nested_functions(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        class Ops:
            @staticmethod
            @custom_op("a::static", mutates_args=())
            def static(x: Tensor) -> Tensor: ...
            def setup(self):
                @custom_op("a::inside", mutates_args=["x"])
                def inside(x: Tensor) -> None: ...
        def outer():
            def inner():
                @custom_op("a::deep", mutates_args=())
                def deep(x: Tensor) -> Tensor: ...
            return inner
    """)
    assert sorted(shown(ops)) == [
        ("a::deep", "custom_op", (), ["deep"]), ("a::inside", "custom_op", ("x",), ["inside"]),
        ("a::static", "custom_op", (), ["static"])]


def test_a_function_called_several_times_registers_its_own_ops_once(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        def setup(verbose):
            @custom_op("a::f", mutates_args=())
            def f(x: Tensor) -> Tensor: ...
        setup(True)
        setup(False)
    """)
    assert [(op.name, op.location.line) for op in ops] == [("a::f", FIRST + 1)]


def test_an_op_that_is_registered_on_first_use_is_one_op(tmp_path: Path) -> None:
    """It stands where it is defined, whoever uses it, and however deep."""
    ops = register(tmp_path, """\
        import functools
        SPACE, NAME = "a", "f"
        @functools.lru_cache(maxsize=1)
        def op():
            try:
                @custom_op(f"{SPACE}::{NAME}", mutates_args=(), schema="(Tensor x) -> Tensor")
                def f(x): ...
                f.register_fake(lambda x: x)
            except Exception:
                return None
            return getattr(torch.ops.a, NAME)
        def works():
            return op() is not None
        def use(x):
            return op()(x) if works() else x
        def install(model):
            run = op()
            model.forward = lambda x: use(run(x))
    """)
    assert [(one.name, one.location.line, one.form.value) for one in ops] == [("a::f", FIRST + 5, "custom_op")]


def test_what_a_function_is_passed_makes_ops_of_its_callers(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        def add(name, function):
            custom_op("a::own", own, mutates_args=())
            custom_op("a::" + name, function, mutates_args=())
        def own(x: Tensor) -> Tensor: ...
        def f(x: Tensor) -> Tensor: ...
        def later():
            add("f", f)
        def much_later():
            later()
    """)
    assert sorted({op.name for op in ops}) == ["a::f", "a::own"]


def test_functions_of_other_files(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from impl import f as implementation
        import impl
        custom_op("a::one", implementation, mutates_args=["x"])
        custom_op("a::two", impl.f, mutates_args=impl.WRITTEN)
        custom_op("a::four", functools.partial(impl.f, n=2), mutates_args=())
    """, impl="WRITTEN = ('x',)\ndef f(x: Tensor, n: int = 1) -> None: ...\n")
    assert shown(ops) == [("a::one", "custom_op", ("x",), ["f"]), ("a::two", "custom_op", ("x",), ["f"]),
                          ("a::four", "custom_op", (), ["f"])]
    assert {one.module.display for op in ops for one in op.functions} == {"impl.py"}
    assert [op.declaration.span is None for op in ops] == [False, True, False]


def test_functions_that_cannot_be_found(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from absent.kernels import f
        def g(n, x): ...
        class C:
            def method(self, x): ...
        c = C()
        custom_op("a::one", f, mutates_args=["x"])
        custom_op("a::two", functools.partial(g, 1), mutates_args=[])
        custom_op("a::three", make(), mutates_args=[])
        custom_op("a::four", lambda x: x, mutates_args=[])
        custom_op("a::five", c.method, mutates_args=[])
        torch.library.define("a::six", "(Tensor x) -> Tensor")
    """)
    assert [(op.name, op.missing) for op in ops] == [
        ("a::one", "its function is `f` of `absent.kernels`, whose source is not at hand"),
        ("a::two", ""),
        ("a::three", "its function is not known: it is made by `make`"),
        ("a::four", ""),
        ("a::five", ""),
        ("a::six", "no implementation of it was found"),
    ]
    assert [functions(op) for op in ops] == [[], ["g"], [], ["<lambda>"], ["method"], []]
    assert [[a.arg for a in one.node.args.args] for op in ops for one in op.functions] == [["x"]] * 3


def test_an_implementation_apart_from_its_definition_is_joined(tmp_path: Path) -> None:
    backend = """\
        from torch.library import register_kernel
        @register_kernel("a::f", "cuda")
        def f_cuda(x): ...
        @register_kernel("elsewhere::g", "cuda")
        def g_cuda(x): ...
    """
    (own,) = register(tmp_path, 'torch.library.define("a::f", "(Tensor(a!) x) -> ()")\n')
    assert functions(own) == []
    (tmp_path / "backend.py").write_text("\n".join(line[8:] for line in backend.splitlines()))
    ops = both(tmp_path, "ops", "backend")
    assert shown(ops) == [("a::f", "define", ("x",), ["f_cuda"]), ("elsewhere::g", "define", None, ["g_cuda"])]
    assert ops[0].missing == ""
    assert ops[1].declaration.reason == "its schema is defined elsewhere"


def test_branches_that_a_constant_turns_off_are_read_too(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        FANCY = False
        if FANCY:
            @custom_op("a::f", mutates_args=["x"])
            def f(x: Tensor) -> None: ...
        else:
            @custom_op("a::f", mutates_args=())
            def f(x: Tensor) -> Tensor: ...
    """)
    assert shown(ops) == [("a::f", "custom_op", ("x",), ["f"]), ("a::f", "custom_op", (), ["f"])]
