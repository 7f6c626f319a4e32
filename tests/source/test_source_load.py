"""Loading a file from its slice: nothing else of it runs, and everything it needs is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from triton_mutlint.types import FileResult, Kernel

COPY = """
@triton.jit
def {name}(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))
"""


def kernels(result: FileResult) -> list[str]:
    return [kernel.name for kernel in result.kernels]


def the_kernel(result: FileResult) -> Kernel:
    assert result.failures == ()
    (kernel,) = result.kernels
    return kernel


# ------------------------------------------------------------------ the slice


def test_a_kernel_with_its_lines_and_parameters(load_text) -> None:
    kernel = the_kernel(
        load_text(
            """
            # a comment
            @triton.jit
            def k(
                x: tl.const, n, stride=1, *, BLOCK: tl.constexpr = 64,
            ):
                tl.store(x, n)
            """
        )
    )
    assert (kernel.location.line, kernel.location.file, kernel.qualname) == (6, "kernels.py", "k")
    assert kernel.parameter_names == ("x", "n", "stride", "BLOCK")
    x, n, stride, block = kernel.parameters
    assert (x.is_const, x.annotation, n.has_default) == (True, "tl.const", False)
    assert (stride.has_default, stride.default) == (True, 1)
    assert (block.is_constexpr, block.default, block.index) == (True, 64, 3)
    assert kernel.jit.src.startswith("def k(")
    assert kernel.jit.starting_line_number == 6
    assert kernel.jit.fn.__code__.co_filename == str(kernel.path)


@pytest.mark.parametrize(
    "effect",
    [
        "raise RuntimeError('boom')",
        "import sys; sys.exit(3)",
        "import argparse; args = argparse.ArgumentParser().parse_args()",
        "print('leaked')",
        "open('leaked.txt', 'w').write('x')",
        "k[(1,)](x, y, 16)",
        "import torch; x = torch.zeros(8, device='cuda')",
        "while True: pass",
    ],
)
def test_the_rest_of_the_file_does_not_run(load_text, effect: str, capfd, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = COPY.format(name="k") + f"\n{effect}\n"
    assert kernels(load_text(text)) == ["k"]
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "leaked.txt").exists()


def test_a_needed_constant_that_prints_or_exits_stays_quiet(load_text, capfd) -> None:
    result = load_text(
        """
        import sys
        def width():
            print("leaked", file=sys.stderr)
            sys.stdout.write("leaked")
            sys.exit(2)
        WIDTH = tl.constexpr(width())
        @triton.jit
        def k(x):
            tl.store(x, WIDTH)
        @triton.jit
        def other(x):
            tl.store(x, 1)
        """
    )
    assert kernels(result) == ["other"]
    ((name, failure),) = result.failures
    assert name == "k"
    assert failure.message == "kernel k needs `WIDTH`, which could not be computed (SystemExit: 2)"
    assert failure.location is not None
    assert failure.location.line == 12
    assert capfd.readouterr() == ("", "")


def test_only_what_is_evaluated_is_pulled_in(load_text, write) -> None:
    write("heavy.py", "raise RuntimeError('imported')\n")
    write("unused.py", "HUGE = [0] * (1 << 40)\nSMALL = 8\n")
    result = load_text(
        """
        import heavy
        from unused import SMALL, HUGE
        BLOCK = tl.constexpr(SMALL)
        def host(x):
            return heavy.launch(x, HUGE)
        @triton.jit
        def k(x):
            tl.store(x, BLOCK)
        """
    )
    assert the_kernel(result).namespace["BLOCK"].value == 8
    assert [path.name for path in result.sources] == ["kernels.py", "unused.py"]


def test_constants_may_call_ordinary_functions(load_text) -> None:
    kernel = the_kernel(
        load_text(
            """
            import math
            from functools import lru_cache
            @lru_cache
            def width(n):
                return math.ceil(n / 3) + OFFSET
            OFFSET = 2
            WIDTH = tl.constexpr(width(10))
            TABLE = []
            for i in range(3):
                TABLE.append(i)
            TABLE.append(7)
            LAST = tl.constexpr(TABLE[-1])
            @triton.jit
            def k(x):
                tl.store(x + LAST, WIDTH)
            """
        )
    )
    assert (kernel.namespace["WIDTH"].value, kernel.namespace["LAST"].value) == (6, 7)


def test_endless_recursion(load_text) -> None:
    ((_, failure),) = load_text(
        """
        def deep(n):
            return deep(n + 1)
        N = tl.constexpr(deep(0))
        @triton.jit
        def k(x):
            tl.store(x, N)
        """
    ).failures
    assert "(RecursionError: " in failure.message


def test_the_driver_is_never_asked(load_text) -> None:
    kernel = the_kernel(
        load_text(
            """
            def is_hip():
                return triton.runtime.driver.active.get_current_target().backend == "hip"
            WIDTH = tl.constexpr(64 if is_hip() else 32)
            @triton.jit
            def k(x):
                tl.store(x, WIDTH)
            """
        )
    )
    assert kernel.namespace["WIDTH"].value == 32
    from triton.runtime.driver import driver

    assert "StandIn" not in repr(vars(driver))


def test_device_questions_are_answered_for_the_target(load_text) -> None:
    text = """
    import torch
    IS_HIP = torch.version.hip is not None
    WIDTH = tl.constexpr(64 if IS_HIP else torch.cuda.get_device_capability()[0])
    @triton.jit
    def k(x):
        tl.store(x, WIDTH)
    """
    assert the_kernel(load_text(text)).namespace["WIDTH"].value == 9
    assert the_kernel(load_text(text, target="hip:gfx942")).namespace["WIDTH"].value == 64


def test_torch_is_never_imported(load_text) -> None:
    before = "torch" in sys.modules
    the_kernel(load_text("import torch\nEPS = tl.constexpr(torch.finfo(torch.float16).eps)\n" + COPY.format(name="k")))
    assert ("torch" in sys.modules) is before


def test_the_environment_is_left_as_it_was(load_text, monkeypatch) -> None:
    import os

    monkeypatch.setenv("MUTLINT_TEST", "before")
    result = load_text(
        """
        import os
        def setup():
            os.environ["MUTLINT_TEST"] = "after"
            return 4
        N = tl.constexpr(setup())
        @triton.jit
        def k(x):
            tl.store(x, N)
        """
    )
    assert the_kernel(result).namespace["N"].value == 4
    assert os.environ["MUTLINT_TEST"] == "before"


def test_the_given_text_counts_not_the_file_on_disk(load_text, write) -> None:
    write("kernels.py", "# quite\n# another\n# text\n")
    kernel = the_kernel(load_text(COPY.format(name="unsaved")))
    assert kernel.jit.src.startswith("def unsaved(")


def test_a_syntax_error_has_its_place(load_text) -> None:
    ((name, failure),) = load_text("@triton.jit\ndef k(x:\n    pass\n").failures
    assert name == ""
    assert failure.message.startswith("syntax error: ")
    assert failure.location is not None
    assert failure.location.file == "kernels.py"
    assert failure.location.line in (4, 5)


def test_a_syntax_error_after_other_letters_has_its_place_in_bytes(load_text) -> None:
    ((_, failure),) = load_text("@triton.jit\ndef k(x): pass\nü = 'größe' ü\n").failures
    line = "ü = 'größe' ü"
    assert failure.location is not None
    assert failure.location.column in (1 + len(line[:-1].encode()), 1 + len(line[:4].encode()))


def test_kernels_in_strings_are_no_kernels(load_text) -> None:
    found = load_text('CODE = """\n@triton.jit\ndef k(x): pass\n"""\n')
    assert found == FileResult(found.source, sources=(found.source.path,))


# ------------------------------------------------------------------ kernels and helpers


def test_helpers_are_told_from_kernels(load_text) -> None:
    result = load_text(
        """
        @triton.jit
        def value(x):
            return tl.load(x)
        @triton.jit
        def put(x, v):
            tl.store(x, v)
        @triton.jit
        def combine(a, b):
            return a + b
        @triton.jit
        def never_launched(x):
            put(x, value(x))
        @triton.jit
        def both(x):
            tl.store(x, tl.reduce(tl.arange(0, 8), 0, combine))
        @triton.jit
        def caller(x):
            both(x)
        def host(x):
            both[(1,)](x)
        """
    )
    assert kernels(result) == ["never_launched", "both", "caller"]
    assert [h.name for h in result.helpers] == ["value", "put", "combine"]
    assert all(h.is_helper for h in result.helpers)


def test_a_kernel_named_like_a_triton_operation_is_not_called_by_others(load_text) -> None:
    result = load_text(COPY.format(name="load") + COPY.format(name="copy"))
    assert kernels(result) == ["load", "copy"]


def test_asked_for_by_name(load_text) -> None:
    text = "@triton.jit\ndef h(x):\n    return x\n" + COPY.format(name="a") + COPY.format(name="b")
    result = load_text(text, kernels=["h", "b", "bb"])
    assert kernels(result) == ["h", "b"]
    ((name, failure),) = result.failures
    assert (name, failure.hint) == ("", "did you mean b?")


def test_kernels_that_share_a_name(load_text) -> None:
    result = load_text(
        """
        @triton.jit
        def k(x):
            tl.store(x, 1)
        @triton.jit
        def k(x, y):
            tl.store(y, 2)
        FLAG = True
        if FLAG:
            @triton.jit
            def m(x):
                tl.store(x, 1)
        else:
            @triton.jit
            def m(x, y, z):
                tl.store(x, 2)
        """
    )
    assert [(k.name, len(k.parameters)) for k in result.kernels] == [("k", 1), ("k", 2), ("m", 1), ("m", 3)]
    assert len({k.location.line for k in result.kernels}) == 4
    assert len({k.jit.fn.__qualname__ for k in result.kernels}) == 4


# ------------------------------------------------------------------ branches


@pytest.mark.parametrize(
    "condition",
    ["if HAS_TRITON:", "if 1 / 0:", "if nothing.known():", "if False:", "try:", "with open('/nope'):", "for _ in []:"],
)
def test_the_branch_that_defines_a_kernel_is_taken(load_text, condition: str) -> None:
    body = "\n".join("    " + line for line in COPY.format(name="k").splitlines())
    tail = "\nexcept ImportError:\n    k = None\n" if condition == "try:" else "\n"
    assert kernels(load_text(f"import nothing\nHAS_TRITON = False\n{condition}\n{body}{tail}")) == ["k"]


def test_a_fallback_does_not_hide_what_is_there(load_text, write) -> None:
    write("real.py", "WIDTH = 8\n")
    kernel = the_kernel(
        load_text(
            """
            try:
                from real import WIDTH
                HAS_REAL = True
            except ImportError:
                WIDTH = 1
                HAS_REAL = False
            try:
                from absent import DEPTH
            except ImportError:
                DEPTH = 3
            W, D, R = tl.constexpr(WIDTH), tl.constexpr(DEPTH), tl.constexpr(HAS_REAL)
            @triton.jit
            def k(x):
                tl.store(x + W + D + R, 0)
            """
        )
    )
    assert [kernel.namespace[name].value for name in "WDR"] == [8, 3, True]


def test_an_undecidable_condition_is_noted(load_text) -> None:
    kernel = the_kernel(
        load_text(
            """
            import absent
            if absent.is_fast:
                WIDTH = tl.constexpr(8)
            else:
                WIDTH = tl.constexpr(4)
            @triton.jit
            def k(x):
                tl.store(x, WIDTH)
            """
        )
    )
    assert kernel.notes == ("the condition above `WIDTH` (line 5) is not known",)


def test_not_knowing_is_no_answer(load_text) -> None:
    """`except Exception` around an unknown must not decide a constant."""
    ((_, failure),) = load_text(
        """
        import absent
        def fast():
            try:
                return absent.version() > 3
            except Exception:
                return False
        FAST = tl.constexpr(1 if fast() else 0)
        @triton.jit
        def k(x):
            tl.store(x, FAST)
        """
    ).failures
    assert "needs `FAST`, which is computed from `absent.version`" in failure.message.replace("()", "")


# ------------------------------------------------------------------ where triton comes from


@pytest.mark.parametrize(
    "header",
    [
        "import triton\nfrom triton import language as tl\n",
        "from triton import jit\nimport triton.language as tl\nclass triton: jit = jit\n",
        "from absent.triton_utils import triton, tl\n",
        "from shim import triton, tl\n",
        "from shim import *\n",
        "try:\n    import triton\n    import triton.language as tl\nexcept ImportError:\n    triton = tl = None\n",
        "HAS = False\nif HAS:\n    import triton\n    import triton.language as tl\nelse:\n    triton = tl = None\n",
        "from __future__ import annotations\nimport triton\nimport triton.language as tl\n",
        "import triton as T, triton.language as tl\ntriton = T\n",
    ],
)
def test_triton_is_the_real_one(load_text, write, header: str) -> None:
    write(
        "shim.py",
        """
        try:
            import triton
            import triton.language as tl
        except ImportError:
            class triton:
                jit = staticmethod(lambda fn: fn)
            tl = None
        """,
    )
    kernel = the_kernel(load_text(COPY.format(name="k"), header=header))
    assert kernel.parameters[2].is_constexpr
    assert type(kernel.jit).__name__ == "JITFunction"


@pytest.mark.parametrize("source", ["absent.shim", "triton.language.extra", "triton.language.extra.cuda"])
def test_libdevice_is_the_real_one(load_text, source: str) -> None:
    kernel = the_kernel(
        load_text(
            f"""
            from {source} import libdevice
            @triton.jit
            def k(x):
                tl.store(x, libdevice.exp(tl.load(x)))
            """
        )
    )
    assert kernel.namespace["libdevice"].__name__.startswith("triton.language.extra")


@pytest.mark.parametrize(
    "header",
    [
        "class triton:\n    jit = staticmethod(lambda fn: fn)\nimport triton.language as tl\n",
        "import triton.language as tl\ndef jit(fn):\n    return fn\nclass triton:\n    jit = jit\n",
    ],
)
def test_a_placeholder_jit_is_an_error(load_text, header: str) -> None:
    result = load_text(COPY.format(name="k"), header=header)
    assert result.kernels == ()
    ((name, failure),) = result.failures
    assert name == "k"
    assert "is not Triton's here" in failure.message


@pytest.mark.parametrize("library", ["numba", "cutlass.cute as cute", "jax"])
def test_another_librarys_jit_is_left_alone(load_text, library: str) -> None:
    name = library.split()[-1]
    assert load_text(f"import {library}\n@{name}.jit\ndef f(x):\n    return x\n").failures == ()


def test_gluon_kernels_and_their_helpers_are_found(load_text) -> None:
    text = (
        "from triton.experimental import gluon\n@gluon.jit\ndef helper(x):\n    return x\n"
        "@gluon.jit\ndef g(x):\n    helper(x)\n"
    )
    loaded = load_text(text)
    assert ([k.name for k in loaded.kernels], [h.name for h in loaded.helpers]) == (["g"], ["helper"])
    assert (loaded.failures, loaded.notes) == ((), ())


def test_a_part_of_a_tuple_makes_no_helper(load_text) -> None:
    kernel = "@triton.jit\ndef k(p, n):\n    q = p[1:]\n    tl.store(q[0], n)\n"
    helper = "@triton.jit\ndef h(x, p):\n    tl.store(p + x[:, None], 1)\n"
    result = load_text(kernel + helper)
    assert [k.name for k in result.kernels] == ["k"]
    assert [h.name for h in result.helpers] == ["h"]


def test_the_interpreter_variable_does_not_matter(load_text, monkeypatch) -> None:
    import os

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert type(the_kernel(load_text(COPY.format(name="k"))).jit).__name__ == "JITFunction"
    assert os.environ["TRITON_INTERPRET"] == "1"


# ------------------------------------------------------------------ what binds a name, and what is refused


@pytest.mark.parametrize(
    "binding",
    [
        "(S := tl.constexpr(3))",
        "if (S := tl.constexpr(3)) is None:\n    raise SystemExit",
        "ALL = [n for n in range(4) if (S := tl.constexpr(n)) is not None]",
        "with open(__file__) as file:\n    S = tl.constexpr(len(file.read()) and 3)",
    ],
    ids=["walrus", "condition", "comprehension", "with"],
)
def test_every_way_to_bind_a_name(load_text, write, binding: str) -> None:
    write("kernels.py", "x")
    kernel = the_kernel(load_text(f"{binding}\n\n@triton.jit\ndef k(x):\n    tl.store(x, S)\n"))
    assert kernel.jit.__globals__["S"].value == 3


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("signal.alarm(1)", "`signal.alarm`, which is not run while a file is loaded"),
        ("torch.ones(3).sum()", "`torch.ones`, which is not imported while a file is loaded"),
    ],
)
def test_what_a_file_may_not_do_is_said_as_it_is(load_text, expression: str, reason: str) -> None:
    constant = f"import signal, torch\nS = tl.constexpr(int({expression}))\n"
    result = load_text(f"{constant}@triton.jit\ndef k(x):\n    tl.store(x, S)\n")
    ((_, failure),) = result.failures
    assert reason in failure.message


def test_a_constant_that_sleeps_is_not_waited_for(load_text) -> None:
    text = "import time\nS = tl.constexpr(time.sleep(3600) or 3)\n@triton.jit\ndef k(x):\n    tl.store(x, S)\n"
    assert the_kernel(load_text(text)).jit.__globals__["S"].value == 3


def test_loading_ends_under_a_profiler(tmp_path: Path) -> None:
    code = (
        "import cProfile\nfrom triton_mutlint.process.watchdog import watched\n"
        "profile = cProfile.Profile()\nprofile.enable()\n"
        "for _ in range(5):\n    with watched(9):\n        sum(range(1000))\nprofile.disable()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
