"""Functions that register what they are passed: a project's own, configured ones, those of public libraries."""

from pathlib import Path

import pytest

from tests.helpers.registration_case import HEAD, both, functions, register, shown
from triton_mutlint.config.registrar import Registrar

FIRST = HEAD.count("\n") + 1

DIRECT = """\
    lib = Library("mine", "FRAGMENT")
    def direct(op_name, op_func, mutates_args=None, fake_impl=None, target_lib=None, dispatch_key=None):
        if mutates_args is None:
            mutates_args = []
        if dispatch_key is None:
            from absent.platforms import current
            dispatch_key = current.key
        schema = infer_schema(op_func, mutates_args=mutates_args)
        my_lib = target_lib or lib
        my_lib.define(op_name + schema)
        if dispatch_key == "CUDA":
            my_lib.impl(op_name, op_func, "CUDA")
        else:
            my_lib.impl(op_name, op_func, dispatch_key=dispatch_key)
        if fake_impl is not None:
            my_lib._register_fake(op_name, fake_impl)
"""


def test_what_a_registrar_does_with_its_parameters_is_read_from_its_code(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from utils import direct
        other = Library("other", "FRAGMENT")
        def f(x: Tensor, out: Tensor) -> None: ...
        def f_fake(x, out): ...
        direct("left_out", f)
        direct(op_name="none", op_func=f, mutates_args=None, fake_impl=f_fake)
        direct(op_name="named", op_func=f, mutates_args=["out"], fake_impl=f_fake)
        direct("by_position", f, ["x"], f_fake)
        direct("elsewhere", f, ("out",), target_lib=other)
        short = functools.partial(direct, target_lib=other, mutates_args=["x"])
        short(op_name="shortened", op_func=f)
        direct(**{"op_name": "unpacked", "op_func": f})
    """, utils=DIRECT)
    assert shown(ops) == [
        ("mine::left_out", "registrar", (), ["f"]), ("mine::none", "registrar", (), ["f"]),
        ("mine::named", "registrar", ("out",), ["f"]), ("mine::by_position", "registrar", ("x",), ["f"]),
        ("other::elsewhere", "registrar", ("out",), ["f"]), ("other::shortened", "registrar", ("x",), ["f"]),
        ("mine::unpacked", "registrar", (), ["f"]),
    ]  # fmt: skip
    assert [op.declaration.stated for op in ops] == [False, False, True, True, True, True, False]
    assert ops[0].location.line == ops[0].declaration.place.line == FIRST + 4
    assert (ops[2].declaration.span, ops[0].declaration.span) == ((FIRST + 6, 48, FIRST + 6, 55), None)


def test_a_registrar_is_no_op_itself(tmp_path: Path) -> None:
    assert register(tmp_path, DIRECT) == ()


def test_a_decorator_made_of_classes(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from utils import registered
        @registered(mutates_args=["x"])
        def f(x: Tensor) -> None: ...
        @registered
        def g(x: Tensor) -> Tensor: ...
    """, utils=DIRECT + """\
    class Wrapper:
        def __init__(self, op_name, op_func, mutates_args):
            self.op_name = op_name
            self.op_func = op_func
            self.mutates_args = mutates_args
            self.made = None
        def __call__(self, *args):
            return self.real(*args)
        @property
        def real(self):
            if self.made is None:
                direct(op_name=self.op_name, op_func=self.op_func, mutates_args=self.mutates_args)
                self.made = getattr(torch.ops.mine, self.op_name)
            return self.made
    def registered(fn=None, *, op_name=None, mutates_args=None, eager=True):
        def decorator(op_func):
            wrapper = Wrapper(op_name or op_func.__name__, op_func, mutates_args or [])
            return wrapper.real if eager else wrapper
        if fn is not None:
            return decorator(fn)
        return decorator
    """)
    assert shown(ops) == [("mine::f", "registrar", ("x",), ["f"]), ("mine::g", "registrar", (), ["g"])]
    assert [op.location.line for op in ops] == [FIRST + 1, FIRST + 3]


def test_overloads_of_a_registrar_do_not_count(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from typing import overload
        @overload
        def mine(name: str) -> int: ...
        @overload
        def mine(name: int) -> str: ...
        def mine(name):
            def wrap(fn):
                return custom_op(f"a::{name}", mutates_args=())(fn)
            return wrap
        @mine("f")
        def f(x: Tensor) -> Tensor: ...
    """)
    assert shown(ops) == [("a::f", "registrar", (), ["f"])]
    assert not ops[0].declaration.stated


def test_a_decorator_that_names_the_op_by_its_function(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        def preserve(lib, decomposed=True):
            def decorator(fn):
                name = fn.__name__
                if name[0] == "_":
                    name = name[1:]
                lib.define(name + infer_schema(fn, mutates_args={}))
                lib.impl(name, fn, "CompositeImplicitAutograd")
                return getattr(getattr(torch.ops, lib.ns), name)
            return decorator
        keep = preserve(Library("quant", "FRAGMENT"))
        @keep
        def _scale(x: Tensor) -> Tensor: ...
    """)
    assert shown(ops) == [("quant::scale", "registrar", (), ["_scale"])]


def test_a_wrapper_is_the_function_that_an_op_runs(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        def make(name, impl, mutates=()):
            names = list(impl.__code__.co_varnames)
            def op(*args):
                return impl(**dict(zip(names, args)))
            return custom_op(f"a::{name}", op, mutates_args=tuple(mutates))
        def f(x: Tensor, out: Tensor) -> None: ...
        make("f", f, mutates=("out",))
        def checked(fn):
            def inner(*args, **kwargs):
                print(args)
                return fn(*args, **kwargs)
            return custom_op("a::checked", inner, mutates_args=())
        checked(f)
    """)
    assert [(op.name, functions(op), op.declaration.names) for op in ops] == [
        ("a::f", ["op"], ("out",)), ("a::checked", ["inner"], ())]


def test_a_shim_for_old_versions(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        if torch.__version__ >= "2.4.0":
            wrapper = torch.library.custom_op
        else:
            def noop(name, fn=None, /, *, mutates_args, device_types=None, schema=None):
                def wrap(func):
                    return func
                return wrap if fn is None else fn
            wrapper = noop
        @wrapper("a::f", mutates_args=("out",), device_types="cuda")
        def f(x: Tensor, out: Tensor) -> None: ...
    """)
    assert shown(ops) == [("a::f", "custom_op", ("out",), ["f"])]


def test_what_callers_in_other_files_pass(tmp_path: Path) -> None:
    """The op is the caller's where its function is; it stands in the registrar's file where that defines it."""
    factory = """\
        def make(backend, mutated):
            @custom_op(f"a::{backend}_attention", mutates_args=mutated)
            def attention(x: Tensor) -> None: ...
            return attention
    """
    (vague,) = register(tmp_path, factory)
    assert shown((vague,)) == [("<a::{backend}_attention>", "custom_op", None, ["attention"])]
    assert vague.declaration.reason == "it is what a caller passes"
    ops = register(tmp_path, factory.rstrip() + '\n        make("fast", ["x"])\n        make("slow", ())\n')
    assert shown(ops) == [("a::fast_attention", "registrar", ("x",), ["attention"]),
                          ("a::slow_attention", "registrar", (), ["attention"])]


# --------------------------------------------------------------------------- without their code


PUBLIC = {
    "vllm.utils.torch_utils": ("direct_register_custom_op", 'direct_register_custom_op("f", f, ["x"])', "vllm::f"),
    "vllm.utils": ("direct_register_custom_op", 'direct_register_custom_op(op_name="f", op_func=f, mutates_args=["x"])',
                   "vllm::f"),
    "sglang.srt.utils.custom_op": ("register_custom_op", 'register_custom_op(mutates_args=["x"])(f)', "sglang::f"),
    "some.compat": ("_torch_custom_op_wrapper", '_torch_custom_op_wrapper("b::f", mutates_args=["x"])(f)', "b::f"),
}


@pytest.mark.parametrize("module", PUBLIC)
def test_registrars_of_public_libraries_are_known(tmp_path: Path, module: str) -> None:
    name, call, op = PUBLIC[module]
    ops = register(tmp_path, f"""\
        from {module} import {name}
        def f(x: Tensor) -> None: ...
        {call}
    """)
    assert shown(ops) == [(op, "registrar", ("x",), ["f"])]


def test_what_public_registrars_take_as_nothing(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from vllm.utils import direct_register_custom_op
        from flash.compat import _torch_custom_op_wrapper
        def f(x: Tensor) -> None: ...
        direct_register_custom_op("f", f)
        _torch_custom_op_wrapper("b::f")(f)
    """)
    assert [op.declaration.names for op in ops] == [(), None]
    assert ops[1].declaration.reason == "it is left out, and what then holds is not known"


OWN = Registrar("body", "writes", ("x",), "title")


def test_a_configured_registrar_whose_code_is_absent(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        import vendor.ops
        from vendor.ops import publish as put
        def f(x: Tensor, y: Tensor) -> None: ...
        put(title="a::f", body=f, writes=["y"])
        vendor.ops.publish(title="a::g", body=f)
        put(body=f, **OPTIONS)
    """, {"vendor.ops.publish": OWN})
    assert [(op.name, op.declaration.names, op.declaration.stated) for op in ops] == [
        ("a::f", ("y",), True), ("a::g", ("x",), False), ("f", None, False)]


def test_a_configured_decorator(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from vendor import op
        @op(writes=("x",))
        def f(x: Tensor) -> None: ...
        @op()
        def g(x: Tensor) -> None: ...
    """, {"vendor.op": Registrar("", "writes", None)})
    assert [(op.name, functions(op), op.declaration.names) for op in ops] == [("f", ["f"], ("x",)), ("g", ["g"], None)]


def test_configuration_goes_before_the_code_and_knows_the_order_from_it(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from vendor import publish
        def f(x: Tensor) -> None: ...
        publish(f, "a::f", ["x"])
    """, {"vendor.publish": OWN}, vendor="def publish(body, title, writes=()):\n    load_extension(body)\n")
    assert shown(ops) == [("a::f", "registrar", ("x",), ["f"])]


def test_implementations_found_apart_from_a_registrar(tmp_path: Path) -> None:
    register(tmp_path, DIRECT + "    direct('f', lambda x: x)\n")
    assert [op.name for op in both(tmp_path, "ops")] == ["mine::f"]


def test_configuration_and_code_together(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from vendor import publish
        def f(x: Tensor, y: Tensor) -> None: ...
        publish("f", f, written=["x"])
        publish("g", f)
    """, {"vendor.publish": Registrar("body", "written")}, vendor="""\
        def publish(title, body, written=()):
            custom_op(f"mine::{title}", body, mutates_args=sorted(set(compute(written))))
    """)
    assert [(op.name, op.declaration.names) for op in ops] == [("mine::f", ("x",)), ("mine::g", ())]


DECORATORS = """\
    lib = Library("mine", "FRAGMENT")
    def guard(writes=(), fake=None):
        def decorator(func):
            def outer(*args, **kwargs):
                return func(*args, **kwargs)
            lib.define(func.__name__ + infer_schema(func, mutates_args=()))
            lib.impl(func.__name__, outer, "CUDA")
            return outer
        return decorator
    def hidden(body, writes=()):
        absent.register(body, writes)
        return body
"""


@pytest.mark.parametrize("default", [(), None])
def test_what_is_configured_holds_for_the_decorator_that_a_registrar_gives(
    tmp_path: Path, default: tuple[str, ...] | None,
) -> None:
    ops = register(tmp_path, """\
        from utils import guard
        @guard(writes=["x"])
        def f(x: Tensor, out: Tensor) -> None: ...
        @guard()
        def g(x: Tensor, out: Tensor) -> None: ...
    """, {"utils.guard": Registrar("", "writes", default)}, utils=DECORATORS)
    assert [(op.name, op.declaration.names) for op in ops] == [("mine::f", ("x",)), ("mine::g", default)]


def test_what_is_configured_holds_where_the_code_gives_the_function_back(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from utils import hidden
        def f(x: Tensor, out: Tensor) -> None: ...
        hidden(f, ["out"])
    """, {"utils.hidden": Registrar("body", "writes")}, utils=DECORATORS)
    assert shown(ops) == [("f", "registrar", ("out",), ["f"])]


def test_a_guard_that_asks_what_it_wraps(tmp_path: Path) -> None:
    """Names in lists of another file, annotations, and whether torch has a function decide what schema there is."""
    ops = register(tmp_path, """\
        from guards import guard
        @guard(mutates_args=["out"])
        def into(x: Tensor, out: Tensor) -> None: ...
        @guard()
        def sized(n: int, x: Tensor) -> tuple[Tensor, Tensor]: ...
        @guard()
        def left_out(x: Tensor) -> None: ...
        @guard()
        def counted(x: Tensor) -> int: ...
    """, guards="""\
        import inspect
        LIB = None
        WRITTEN_OUT, ALONE = ["by_hand"], ["left_out"]
        def by_hand(func):
            return "".join(str(p) for p in inspect.signature(func).parameters)
        def guard(mutates_args="unknown"):
            def decorator(func):
                if func.__name__ in ALONE:
                    return func
                def schema_of(func):
                    global LIB
                    LIB = Library("mine", "FRAGMENT") if LIB is None else LIB
                    if func.__name__ in WRITTEN_OUT:
                        return by_hand(func)
                    if hasattr(torch.library, "infer_schema"):
                        return torch.library.infer_schema(func, mutates_args=mutates_args)
                    import torch._custom_op.impl
                    return torch._custom_op.impl.infer_schema(func, [])
                signature = inspect.signature(func)
                first = list(signature.parameters.values())[0].annotation
                is_tensor = first is not inspect.Parameter.empty and first is torch.Tensor
                takes, gives = schema_of(func).split("->", 1)
                if not is_tensor:
                    takes = "(Tensor dummy, " + takes[1:]
                plain = signature.return_annotation in [int, bool, float]
                if plain:
                    gives = "(Tensor, " + gives + ")"
                def outer(*args):
                    return func(*args)
                def outer_dummy(dummy, *args):
                    return func(*args)
                LIB.define(func.__name__ + f"{takes} -> {gives}")
                LIB.impl(func.__name__, outer if is_tensor else outer_dummy, "CUDA")
                return outer
            return decorator
    """)
    assert [(op.name, op.declaration.names, op.declaration.any_may, functions(op)) for op in ops] == [
        ("mine::into", ("out",), False, ["outer"]), ("mine::sized", None, True, ["outer_dummy"]),
        ("mine::counted", None, True, ["outer"]),
    ]


def test_names_that_a_class_holds(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from kit import Ops
        @Ops.op
        def f(x: Tensor, y: Tensor) -> None: ...
        @Ops.op(writes=("x",))
        def g(x: Tensor, y: Tensor) -> None: ...
    """, kit="""\
        class Ops:
            space, table = "mine", {}
            @classmethod
            def op(cls, fn=None, **options):
                if fn is None:
                    return functools.partial(cls.op, **options)
                made = custom_op(f"{cls.space}::{fn.__name__}", mutates_args=options.get("writes", ()))(fn)
                cls.table[fn.__name__] = made
                return made
    """)
    assert shown(ops) == [("mine::f", "registrar", (), ["f"]), ("mine::g", "registrar", ("x",), ["g"])]
