"""Whatever a kernel calls a helper by, its verdict is another one when the helper begins to store."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from triton_mutlint.config.request import Request
from triton_mutlint.run import run as engine
from triton_mutlint.types import Report

pytestmark = pytest.mark.apart

HEAD = "import functools\nimport triton\nimport triton.language as tl\n\n\n"
HOOK = "@triton.jit\ndef hook(p):\n    {body}\n\n\n"
KERNEL = "@triton.jit\ndef kernel(x):\n    {call}\n"
BY_FLAG = "@triton.jit\ndef kernel(x, FN: tl.constexpr):\n    FN(x)\n"
LAUNCH = "\n\ndef run(x):\n    kernel[(1,)](x, {given})\n"

# What stands between the helper and the end of the file, by how the kernel reaches it.
FORMS = {
    "its own name": KERNEL.format(call="hook(x)"),
    "another name": "OTHER = hook\n\n\n" + KERNEL.format(call="OTHER(x)"),
    "another name of another name": "A = hook\nB = A\n\n\n" + KERNEL.format(call="B(x)"),
    "an unpacked name": "A, B = (hook, 1)\n\n\n" + KERNEL.format(call="A(x)"),
    "a constexpr": "FN = tl.constexpr(hook)\n\n\n" + KERNEL.format(call="FN(x)"),
    "a class": "class Ops:\n    put = hook\n\n\nFN = Ops.put\n\n\n" + KERNEL.format(call="FN(x)"),
    "a tuple": "TABLE = tl.constexpr((hook, hook))\n\n\n" + KERNEL.format(call="TABLE[0](x)"),
    "an alias from a dict": "TABLE = {'a': hook}\nFN = TABLE['a']\n\n\n" + KERNEL.format(call="FN(x)"),
    "an alias from a list": "FN = [hook, hook][-1]\n\n\n" + KERNEL.format(call="FN(x)"),
    "globals()": "FN = globals()['ho' + 'ok']\n\n\n" + KERNEL.format(call="FN(x)"),
    "getattr": "class Ops:\n    put = hook\n\n\nFN = getattr(Ops, 'p' + 'ut')\n\n\n" + KERNEL.format(call="FN(x)"),
    "a function that gives it": "def pick():\n    return hook\n\n\nFN = pick()\n\n\n" + KERNEL.format(call="FN(x)"),
    "a partial's function": "PART = functools.partial(hook)\nFN = PART.func\n\n\n" + KERNEL.format(call="FN(x)"),
    "a conditional name": "FN = hook if triton else None\n\n\n" + KERNEL.format(call="FN(x)"),
    "a jit function made by hand": "def plain(p):\n    hook(p)\n\n\nFN = triton.jit(plain)\n\n\n"
                                   + KERNEL.format(call="FN(x)"),
    "a helper in between": "OTHER = hook\n\n\n@triton.jit\ndef deep(p):\n    OTHER(p)\n\n\n"
                           + KERNEL.format(call="deep(x)"),
    "a closure": "def make(fn):\n    @triton.jit\n    def made(x):\n        fn(x)\n    return made\n\n\n"
                 "kernel = make(hook)\n",
    "a default": "@triton.jit\ndef kernel(x, FN: tl.constexpr = hook):\n    FN(x)\n",
    "a launch": BY_FLAG + LAUNCH.format(given="FN=hook"),
    "another name at a launch": "OTHER = hook\n\n\n" + BY_FLAG + LAUNCH.format(given="OTHER"),
    "a list of configs": "CONFIGS = [triton.Config({'FN': hook})]\n\n\n@triton.autotune(CONFIGS, key=[])\n" + BY_FLAG,
    "a table of configs": "TABLE = {'a': hook}\n\n\n@triton.autotune([triton.Config({'FN': f}) for f in"
                          " TABLE.values()], key=[])\n" + BY_FLAG,
    "a heuristic": "@triton.heuristics({'FN': lambda args: hook})\n" + BY_FLAG,
    "a heuristic by a table": "RULES = {'FN': lambda args: globals()['hook']}\n\n\n"
                              "@triton.heuristics(RULES)\n" + BY_FLAG,
    "a decorated helper": "def wrap(fn):\n    return fn\n\n\n@wrap\n@triton.jit\ndef deep(p):\n    hook(p)\n\n\n"
                          + KERNEL.format(call="deep(x)"),
    "an object's attribute": "import types\nNS = types.SimpleNamespace(put=hook)\nFN = NS.put\n\n\n"
                             + KERNEL.format(call="FN(x)"),
    "the spec": BY_FLAG,
    "the spec by another name": "OTHER = hook\n\n\n" + BY_FLAG,
}
# Other ways in which a file gets at the helper of another one.
IMPORTS = {
    "a star": ("hooks.py", "from hooks import *"),
    "a module's attribute": ("hooks.py", "import hooks\nhook = hooks.hook"),
    "a module in packages": ("one/two/hooks.py", "import one.two.hooks as hooks\nhook = hooks.hook"),
    "a relative name": ("hooks.py", "import importlib\nhook = importlib.import_module('hooks').hook"),
}
# Each of these ways with every fourth form, so that together they have them all.
FORMS_OF = {where: list(FORMS)[number::len(IMPORTS)] for number, where in enumerate(IMPORTS)}
SPECS = {"the spec": "hook", "the spec by another name": "OTHER"}
CASES = [(where, form) for where in ("same file", "another file", "handed on", *IMPORTS)
         for form in FORMS_OF.get(where, FORMS)]


def file_of(form: str) -> str:
    return f"form{list(FORMS).index(form)}.py"


def write(root: Path, where: str, body: str) -> None:
    """A file for each form: a kernel that calls a helper of the same file, or of one that it imports from."""
    helper = HOOK.format(body=body)
    beginning = HEAD + helper
    if where in IMPORTS:
        file, statements = IMPORTS[where]
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(HEAD + helper)
        beginning = HEAD + statements + "\n\n\n"
    elif where != "same file":
        (root / "hooks.py").write_text(HEAD + helper)
        (root / "between.py").write_text("from hooks import hook as passed\nLIST = [passed]\nhook, = LIST\n")
        module = "between" if where == "handed on" else "hooks"
        beginning = HEAD.rstrip() + f"\nfrom {module} import hook\n\n\n"
    forms = FORMS_OF.get(where, FORMS)
    for form in forms:
        (root / file_of(form)).write_text(beginning + FORMS[form])
    entries = [f"  '{file_of(form)}::kernel': {{args: {{x: '*fp32', FN: {{ref: {SPECS[form]}}}}}}}\n"
               for form in forms if form in SPECS] or ["  kernel: {args: {x: '*fp32'}}\n"]
    (root / "triton-mutlint.yaml").write_text(f"version: 1\nkernels:\n{''.join(entries)}")


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Report]]:
    """The reports with a cache, first as the helper loads, then as it stores."""

    @lru_cache
    def made(where: str) -> list[Report]:
        root, cache = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("cache")
        found = []
        for body in ("tl.load(p)", "tl.store(p, 1)"):
            write(root, where, body)
            files = tuple(file_of(form) for form in FORMS_OF.get(where, FORMS))
            found.append(engine.run(Request(files, root, targets=("cuda:90",), cache_dir=cache)))
        return found

    return made


@pytest.mark.parametrize(("where", "form"), CASES)
def test_the_verdict_follows_the_helper(states: Callable[[str], list[Report]], where: str, form: str) -> None:
    for report, mutated in zip(states(where), ((), ("x",)), strict=True):
        (kernel,) = (k for k in report.kernels if k.location.file == file_of(form) and k.name != "hook")
        assert kernel.failure is None
        assert kernel.mutated == mutated
