"""Functions under a decorator that has `jit` in its name and cannot be evaluated: kernels, or none of ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from triton_mutlint.types import FileResult

Load = Callable[..., FileResult]
Write = Callable[[str, str], Path]

FOREIGN = [
    # a registrar of the project's own, called with what is not there
    """
    def register_jit_lookaside(diverted):
        return lambda f: f
    @register_jit_lookaside(*absent.names)
    def lookaside(obj, *args):
        return obj.apply(*args)
    """,
    # another library's compiler
    """
    from functools import partial
    import mylib
    def test_fn():
        @partial(mylib.jit, executors=[1])
        def f(a, b):
            return a + b
    """,
    """
    from mylib import jit
    @jit(executors=[1])
    def f(a, b):
        return a + b
    """,
]
OURS = [
    # the body speaks Triton
    """
    from mylib import jit
    @jit(executors=[1])
    def f(a):
        tl.store(a, 1)
    """,
    """
    from triton.language import store
    from mylib import jit
    @jit(executors=[1])
    def f(a):
        store(a, 1)
    """,
    """
    from mylib import jit
    @jit(executors=[1])
    def f(a, N: tl.constexpr):
        helper(a)
    """,
    # what it calls is a kernel's helper
    """
    from mylib import jit
    @triton.jit
    def helper(a):
        return a
    @jit(executors=[1])
    def f(a):
        helper(a)
    """,
    # the decorator is called Triton's
    """
    @triton.jit(absent=1)
    def f(a):
        return a
    """,
    """
    from functools import partial
    @partial(triton.jit, absent=1)
    def f(a):
        return a
    """,
]
LIBRARY = """
    def _checked(executors):
        raise LookupError("no such executor")
    def jit(fn=None, executors=None):
        return _checked(executors)
"""


@pytest.mark.parametrize("text", FOREIGN)
def test_what_has_nothing_to_do_with_triton_is_left_alone(load_text: Load, write: Write, text: str) -> None:
    write("mylib.py", LIBRARY)
    result = load_text(text)
    assert (result.kernels, result.helpers, result.failures) == ((), (), ())


@pytest.mark.parametrize("text", OURS)
def test_what_points_to_triton_is_an_error(load_text: Load, write: Write, text: str) -> None:
    write("mylib.py", LIBRARY)
    result = load_text(text)
    assert [name for name, _ in result.failures] == ["f"]


def test_a_placeholder_that_fails_is_an_error(load_text: Load) -> None:
    header = "class triton:\n    @staticmethod\n    def jit(fn):\n        raise ImportError('no triton')\n"
    ((name, _),) = load_text("@triton.jit\ndef f(a):\n    return a\n", header=header).failures
    assert name == "f"
