"""Statements at the top level that change a value which a kernel needs: it is what running the file would give."""

from __future__ import annotations

import textwrap

import pytest

from tests.source.conftest import Load, Write

KERNEL = """
@triton.jit
def kernel(x):
    tl.store(x, VALUE)
"""
NOTES = "T = []\nclass V:\n    def {}(self, *others):\n        T.append(2)\n        return {}\n"  # that it was used
CHANGES = {
    "attribute": ("class C:\n    n = 0\nT = {'a': C()}\nT['a'].n = 2", "T['a'].n"),
    "alias": ("T = {'a': [0]}\nfor t in T.values():\n    t[0] = 2", "T['a'][0]"),
    "other_name": ("A = [0]\nB = A\nB[0] = 2", "A[0]"),
    "method": ("S = {1, 2}\nS.discard(1)", "sum(S)"),
    "read_before": ("A = [2]\nB = A[0]\nA[0] = 7", "B"),
    "call": ("T = []\ndef define(n):\n    T.append(n)\nfor n in (1, 2):\n    define(n)", "T[1]"),
    "closure": (
        "def make(n=0):\n    def s():\n        nonlocal n\n        n += 2\n    return s, lambda: n\ns, n = make()\ns()",
        "n()"),
    "default": ("def f(n, kept=[]):\n    kept.append(n)\n    return len(kept)\nf(1)", "f(1)"),
    "own_attribute": ("def f():\n    f.n += 1\n    return f.n\nf.n = 0\nf()", "f()"),
    "global": ("N = 0\ndef start():\n    global N\n    N = 2\nstart()", "N"),
    "decorator": ("T = {}\ndef keep(f):\n    T['n'] = 2\n    return f\n@keep\ndef host():\n    pass", "T['n']"),
    "base_class": (
        "T = []\nclass Base:\n    def __init_subclass__(cls):\n        T.append(2)\nclass Child(Base):\n    pass",
        "T[0]"),
    "bound_again": ("N = 1\nM = N + 1\nN = 5", "M"),
    "match": ("K = {'kind': 2}\nmatch K:\n    case {'kind': n}:\n        N = n", "N"),
    "exec": ("exec('N = 2')", "N"),
    "globals": ("N = 1\nglobals().update(N=2)", "N"),
    "environment": ("import os\nos.environ['MUTLINT_N'] = '2'", "int(os.environ['MUTLINT_N'])"),
    "condition": ("T = [1]\nif len(T) == 1:\n    T[0] = 2\nelse:\n    T[0] = 3", "T[0]"),
    "try_raises": (
        "N = 0\ntry:\n    N = 1\n    raise KeyError\nexcept ValueError:\n    N = 3\nexcept KeyError:\n    N = 2", "N"),
    "try_asserts": ("N = 2\ntry:\n    assert N == 3\n    N = 5\nexcept AssertionError:\n    pass", "N"),
    "suppressed": (
        "import contextlib\nwith contextlib.suppress(ZeroDivisionError):\n    N = 2\n    N = 1 // 0\n    N = 3", "N"),
    "context": (
        ("import contextlib\nL = []\n@contextlib.contextmanager\ndef m():\n    L.append(2)\n    yield\n"
        "with m():\n    n = L[:]"), "n[0]"),
    "cached": ("import functools\nN = 2\n@functools.lru_cache\ndef f():\n    return N\nf()\nN = 9", "f()"),
    "default_value": ("N = 2\ndef f(n=N):\n    return n\nN = 9", "f()"),
    "kept_default": ("def f(n, kept=[]):\n    kept.append(n)\n    return len(kept)\nf(7)", "f(8)"),
    "own_module": ("import sys\nN = 1\nsetattr(sys.modules[__name__], 'N', 2)", "N"),
    "defined_again": ("def f():\n    return 2\nn = f()\ndef f():\n    return 3", "n"),
    "handed_method": ("T = []\nlist(map(T.append, (1, 2)))", "T[1]"),
    "handed_name": ("T = []\nnote = T.append\nlist(map(note, (1, 2)))", "T[1]"),
    "key": ("T = []\ndef note(n):\n    T.append(n)\n    return n\nsorted((1, 1), key=note)", "len(T)"),
    "property": (
        ("class C:\n    n = 0\n    @property\n    def next(self):\n        self.n += 1\n        return self\n"
         "c = C()\nc.next.next"), "c.n"),
    "computed_attribute": (NOTES.format("__getattr__", "None") + "v = V()\nn = v.anything", "T[0]"),
    "descriptor": (NOTES.format("__get__", "None") + "class C:\n    d = V()\nn = C.d", "T[0]"),
    "operator": (NOTES.format("__ge__", "True") + "v = V()\nn = v >= 2", "T[0]"),
    "text_of": (NOTES.format("__str__", "'v'") + "v = V()\nn = f'{v}'", "T[0]"),
    "spread": (NOTES.format("__iter__", "iter(())") + "v = V()\nn = [*v]", "T[0]"),
    "unpacked": (NOTES.format("__iter__", "iter((1, 2))") + "v = V()\na, b = v", "T[0]"),
    "element": ("import collections\nT = collections.defaultdict(list)\nT['a']\nT['b']", "len(T)"),
    "setter_of_object": ("class C:\n    n = 1\nc = C()\nobject.__setattr__(c, 'n', 2)", "c.n"),
    "setter_of_type": ("class C:\n    n = 1\ntype.__setattr__(C, 'n', 2)", "C.n"),
    "metaclass": (
        ("T = []\nclass Meta(type):\n    def __init__(cls, *parts):\n        T.append(2)\n"
         "class C(metaclass=Meta):\n    pass"), "T[0]"),
    "called_by_decorator": (
        "N = 1\ndef now(f):\n    f()\n    return f\n@now\ndef start():\n    global N\n    N = 2", "N"),
    "launch": ("T = [2]\n@triton.jit\ndef k(x):\n    pass\ndef run(t):\n    k[(1,)](t)\nrun(T)", "T[0]"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_value_is_what_running_the_file_gives(load_text: Load, name: str) -> None:
    statements, value = CHANGES[name]
    result = load_text(f"{statements}\nVALUE = tl.constexpr({value})\n" + KERNEL)
    assert not result.failures
    assert result.kernels[-1].namespace["VALUE"].value == 2


@pytest.mark.parametrize("change", ["import absent\nif absent.f() > 3:\n    T[0] = 2", "T.push(2)", "exec('T = ')",
                                    "import concurrent.futures as c\nc.ThreadPoolExecutor().submit(T.append, 2)"])
def test_what_cannot_be_run_makes_what_it_may_change_unknown(load_text: Load, change: str) -> None:
    result = load_text(f"T = [1]\n{change}\nVALUE = tl.constexpr(T[0])\n" + KERNEL)
    ((name, failure),) = result.failures
    assert name == "kernel"
    assert "may be changed" in failure.message


def test_a_name_of_another_module_is_bound_there(load_text: Load, write: Write) -> None:
    write("switches.py", "import triton\nimport triton.language as tl\nON = tl.constexpr(False)\n"
                         "@triton.jit\ndef visit(x):\n    if ON:\n        tl.store(x, 1)\n")
    result = load_text("""
        import switches
        from switches import visit
        switches.ON = tl.constexpr(True)
        @triton.jit
        def kernel(x):
            visit(x)
    """)
    assert result.kernels[0].namespace["visit"].fn.__globals__["ON"].value is True


def test_a_star_import_binds_a_name_again(load_text: Load, write: Write) -> None:
    write("first.py", "N = 1\n")
    write("second.py", "N = 2\n")
    result = load_text("from first import N\nfrom second import *\nVALUE = N\n" + KERNEL)
    assert result.kernels[0].namespace["VALUE"] == 2


@pytest.mark.parametrize(("other", "text", "value"), [
    ("_N = 1\n", "_N = 2\nfrom other import *\n", "_N"),
    ("__all__ = ['A']\nA = 0\nB = 1\n", "A = B = 2\nfrom other import *\n", "A + B"),
    ("globals()['N'] = 2\n", "N = 1\nfrom other import *\n", "N"),
    ("len = 2\n", "from other import *\n", "len"),
    ("N = 2\n", "import other\nfrom other import N\nother.N = 7\n", "N"),
    ("import os\ndef up():\n    os.environ['MUTLINT_M'] = '2'\n",
     "import os\nimport other\nother.up()\n", "int(os.environ.get('MUTLINT_M', 1))"),
    ("raise ImportError\n", "try:\n    from other import N\nexcept ImportError:\n    N = 2\n", "N"),
    ("if 2 > 1:\n    raise ImportError\nN = 1\n", "try:\n    from other import N\nexcept:\n    N = 2\n", "N"),
    ("def __getattr__(name):\n    return len(name)\n", "import other\n", "other.AB"),
    ("N = 2\ndef up():\n    global N\n    N = 9\n", "from other import N, up\nup()\n", "N"),
    ("N_A = 1\nN_B = 2\n", "import other\n", "len([n for n in dir(other) if n.startswith('N_')])"),
])
def test_what_another_module_brings(load_text: Load, write: Write, other: str, text: str, value: str) -> None:
    write("other.py", other)
    result = load_text(f"{text}VALUE = {value}\n" + KERNEL)
    assert result.kernels[-1].namespace["VALUE"] == 2


def test_a_name_that_importlib_lacks_is_an_attribute_error(load_text: Load) -> None:
    namespace = load_text("import importlib\nVALUE = 1\n" + KERNEL).kernels[-1].namespace
    assert not hasattr(namespace["importlib"], "missing")


def test_a_module_that_may_have_been_changed_is_not_known(load_text: Load, write: Write) -> None:
    write("other.py", "N = 1\n")
    ((_, failure),) = load_text("import importlib, other\nimportlib.reload(other)\nVALUE = other.N\n" + KERNEL).failures
    assert "may be changed in line" in failure.message


@pytest.mark.parametrize(("line", "is_edited"), [
    ("config.kwargs['N'] = 2", True), ("config.kwargs.update(N=2)", True),
    ("configs = [triton.Config({'N': 2})]", True),
    ("kept = [c for c in configs if c.kwargs.get('N') == 1]", False),
])
def test_a_pruner_that_may_change_configs(load_text: Load, line: str, is_edited: bool) -> None:
    (kernel,) = load_text(f"""
        def prune(configs, args, **options):
            for config in configs:
                {line}
            return configs
        @triton.autotune([triton.Config({{"N": 1}})], key=[], prune_configs_by={{"early_config_prune": prune}})
        @triton.jit
        def kernel(x, N: tl.constexpr):
            tl.store(x, N)
    """).kernels
    assert kernel.autotune is not None
    assert kernel.autotune.is_edited is is_edited


@pytest.mark.parametrize("statements", [
    "kernel.configs.append(config)", "configs = kernel.configs\nconfigs.append(config)",
    "def widen(k):\n    k.configs.append(config)\nwiden(kernel)",
    "for c in [*kernel.configs]:\n    kernel.configs.append(config)",
])
def test_a_config_that_is_appended_to_a_tuner(load_text: Load, statements: str) -> None:
    result = load_text("""
        @triton.autotune([triton.Config({"N": 1})], key=[])
        @triton.jit
        def kernel(x, N: tl.constexpr):
            tl.store(x, N)
        config = triton.Config({"N": 2})
    """ + textwrap.indent(f"\n{statements}\n", " " * 8))
    autotune = result.kernels[0].autotune
    assert autotune is not None
    assert [config.kwargs["N"] for config in autotune.configs] == [1, 2]


def test_a_tuner_that_may_have_been_changed_is_not_known(load_text: Load) -> None:
    result = load_text("""
        @triton.autotune([triton.Config({"N": 1})], key=[])
        @triton.jit
        def kernel(x, N: tl.constexpr):
            tl.store(x, N)
        kernel.configs.append(triton.Config({"N": 1 // 0}))
    """)
    (kernel,) = result.kernels
    assert kernel.autotune is not None
    assert kernel.autotune.configs == ()
    assert kernel.notes == ("the tuning on line 4 could not be evaluated",)
