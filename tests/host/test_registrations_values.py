"""Names and lists that are computed, as far as they can be known without running anything."""

from pathlib import Path

import pytest

from tests.helpers.registration_case import register, shown


def declared(folder: Path, expression: str, before: str = "") -> tuple[tuple[str, ...] | None, str]:
    (op,) = register(folder, f"{before}\ndef f(a, b, c): ...\ncustom_op('n::f', f, mutates_args={expression})\n")
    return op.declaration.names, op.declaration.reason


@pytest.mark.parametrize(
    ("expression", "before", "names"),
    [
        ("M", "M = ('a',)", ("a",)),
        ("M", "N = ('a',)\nM = N", ("a",)),
        ("M + ('b',)", "M = ('a',)", ("a", "b")),
        ("(*M, 'b')", "M = ['a']", ("a", "b")),
        ("[*M, 'b']", "M = ('a',)", ("a", "b")),
        ("set()", "", ()),
        ("{}", "", ()),
        ("{'a': None}", "", ("a",)),
        ("tuple(M)", "M = ['a']", ("a",)),
        ("dict(a=1)", "", ("a",)),
        ("[n for n in ('a', 'b')]", "", ("a", "b")),
        ("[n for n in ('a', 'b') if n != 'a']", "", ("b",)),
        ("[f'{n}' for n in 'a b'.split()]", "", ("a", "b")),
        ("('a',) if True else ('b',)", "", ("a",)),
        ("M['f']", "M = {'f': ('a',), 'g': ('b',)}", ("a",)),
        ("M.get('f', ())", "M = {'f': ('a',)}", ("a",)),
        ("M.get('g', ())", "M = {'f': ('a',)}", ()),
        ("M[:1]", "M = ('a', 'b')", ("a",)),
        ("(M[0],)", "M = ('a', 'b')", ("a",)),
        ("names()", "def names():\n    return ['a']", ("a",)),
        ("Names.WRITTEN", "class Names:\n    WRITTEN = ('a',)", ("a",)),
        ("M", "M = ('a',)\nM += ('b',)", ("a", "b")),
        ("M", "M, N = ('a',), ('b',)", ("a",)),
        ("None or ('a',)", "", ("a",)),
        ("(P + 'b',)", "P = ''", ("b",)),
    ],
)
def test_lists_that_are_known(tmp_path: Path, expression: str, before: str, names: tuple[str, ...]) -> None:
    assert declared(tmp_path, expression, before) == (names, "")


@pytest.mark.parametrize(
    ("expression", "before", "reason"),
    [
        ("M", "from absent import M", "it is computed at run time"),
        ("compute()", "from absent import compute", "it is made by `compute`"),
        ("('a',) if unknown else ('b',)", "", "it is decided at run time"),
        ("[n for n in absent]", "", "it is computed at run time"),
        ("('a', name)", "from absent import name", "it is computed at run time"),
        ("(f'{name}',)", "from absent import name", "it is computed at run time"),
        ("open('mutated').read().split()", "", "it is computed at run time"),
    ],
)
def test_lists_that_are_not(tmp_path: Path, expression: str, before: str, reason: str) -> None:
    assert declared(tmp_path, expression, before) == (None, reason)


@pytest.mark.parametrize(
    ("expression", "before", "name"),
    [
        ("'n::' + 'f'", "", "n::f"),
        ("NS + '::f'", "NS = 'n'", "n::f"),
        ("f'{NS}::f'", "NS = 'n'", "n::f"),
        ("'%s::%s' % (NS, 'f')", "NS = 'n'", "n::f"),
        ("'{}::{}'.format(NS, 'f')", "NS = 'n'", "n::f"),
        ("'::'.join((NS, 'f'))", "NS = 'n'", "n::f"),
        ("f'{NS}::{f.__name__}'", "NS = 'n'", "n::f"),
        ("f'{NS.lower()}::f'", "NS = 'N'", "n::f"),
        ("f'{version}::f'", "from absent import version", "<{version}::f>"),
        ("name", "from absent import name", "<computed>"),
    ],
)
def test_names(tmp_path: Path, expression: str, before: str, name: str) -> None:
    (op,) = register(tmp_path, f"{before}\ndef f(a): ...\ncustom_op({expression}, f, mutates_args=())\n")
    assert op.name == name


def test_loops_over_known_lists(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        def f(x): ...
        def g(x): ...
        TABLE = {"one": (f, ["x"]), "two": (g, [])}
        for name, (fn, mutated) in TABLE.items():
            custom_op(f"a::{name}", fn, mutates_args=mutated)
        lib = Library("b", "DEF")
        SPECS = [("three", "three(Tensor(a!) x) -> ()", f), ("four", "four(Tensor x) -> ()", g)]
        def setup():
            for name, schema, impl in SPECS:
                lib.define(schema)
                lib.impl(name, impl, "CUDA")
                lib.impl(name, lambda *args: None, "Meta")
        for i, fn in enumerate((f, g)):
            custom_op("c::" + fn.__name__, fn, mutates_args=())
    """)
    assert sorted(shown(ops)) == [
        ("a::one", "custom_op", ("x",), ["f"]), ("a::two", "custom_op", (), ["g"]),
        ("b::four", "define", (), ["g"]), ("b::three", "define", ("x",), ["f"]),
        ("c::f", "custom_op", (), ["f"]), ("c::g", "custom_op", (), ["g"]),
    ]  # fmt: skip


def test_a_loop_over_what_is_not_known(tmp_path: Path) -> None:
    (op,) = register(tmp_path, """\
        from absent import TABLE
        def f(x): ...
        for name, mutated in TABLE:
            custom_op(f"a::{name}", f, mutates_args=mutated)
    """)
    assert shown((op,)) == [("<a::{name}>", "custom_op", None, ["f"])]


def test_records_of_what_to_register(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from dataclasses import dataclass
        @dataclass
        class Spec:
            name: str
            fn: object
            mutated: tuple = ()
        def f(x): ...
        for spec in [Spec("f", f, ("x",)), Spec(name="g", fn=f, mutated=())]:
            custom_op(f"a::{spec.name}", spec.fn, mutates_args=spec.mutated)
    """)
    assert shown(ops) == [("a::f", "custom_op", ("x",), ["f"]), ("a::g", "custom_op", (), ["f"])]


def test_a_name_stands_for_what_it_is_bound_to_there(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        from impl import f
        f = custom_op("a::f", f, mutates_args=["x"])
        def g(x): ...
        custom_op("a::first", g, mutates_args=())
        def g(y): ...
        custom_op("a::second", g, mutates_args=())
    """, impl="def f(x): ...\n")
    assert [op.functions[0].node.args.args[0].arg for op in ops] == ["x", "x", "y"]
    assert ops[0].functions[0].module.display == "impl.py"


def test_code_that_goes_round_in_circles_ends(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        M = M + ("x",)
        def a(fn): return b(fn)
        def b(fn):
            custom_op("a::b", fn, mutates_args=M)
            return a(fn)
        def f(x): ...
        a(f)
        while True:
            custom_op("a::f", f, mutates_args=())
    """)
    assert {op.name for op in ops} == {"a::b", "a::f"}


@pytest.mark.slow
def test_a_file_that_is_much_too_long_is_followed_for_a_while(tmp_path: Path) -> None:
    deep = "x = " + " + ".join(["1"] * 900) + "\n"
    wide = "for i in range(10):\n" + "    custom_op('a::g', f, mutates_args=())\n" * 2000
    ops = register(tmp_path, "def f(x): ...\ncustom_op('a::f', f, mutates_args=())\n" + wide + deep)
    assert ops[0].name == "a::f"
    assert len(ops) == 2001


def test_whatever_the_file_holds_nothing_is_raised(tmp_path: Path) -> None:
    assert register(tmp_path, """\
        custom_op()
        custom_op(1, 2, 3, mutates_args=4)
        custom_op(*a, **b)
        torch.library.define()
        torch.library.impl()
        torch.library.impl("a")(1)
        Library()
        Library().define()
        Library().impl()
        infer_schema()
        torch.library.register_kernel()
        functools.partial()
        lambda: custom_op
        [custom_op("a::b", x, mutates_args=()) for x in y for z in x]
        "%d" % "x"
        "{0.a}".format("x")
        (1, 2)[5], "ab"[7], {}["x"], "".join(1), zip(), enumerate(1), getattr(1, 2)
        x: int
        del x
        match 1:
            case [a, *b]: pass
    """)


def test_a_dict_in_a_dict_made_by_names(tmp_path: Path) -> None:
    ops = register(tmp_path, """\
        def f(x: Tensor) -> None: ...
        for name, options in dict(first={}, second={"mutates_args": ["x"]}).items():
            custom_op(f"a::{name}", f, **options)
    """)
    assert [(op.name, op.declaration.names) for op in ops][1:] == [("a::second", ("x",))]
