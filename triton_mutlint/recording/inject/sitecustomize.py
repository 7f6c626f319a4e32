"""Begins recording in a program that `triton-mutlint record` started, before its first line.

Python imports this module at its start. What it stands in for, a project's own `sitecustomize`, is run as well.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _begin() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - at a program's start, no pathlib
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]  # noqa: PTH100
    raw = os.environ.get("TRITON_MUTLINT_RECORD_RAW")
    if raw:
        path = os.path.join(os.path.dirname(here), "hooks.py")  # noqa: PTH118, PTH120
        spec = importlib.util.spec_from_file_location("_mutlint_record_hooks", path)
        if spec is not None and spec.loader is not None:
            hooks = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = hooks
            spec.loader.exec_module(hooks)
            hooks.begin(raw)
        if importlib.machinery.PathFinder.find_spec("torch") is None:
            with open(os.path.splitext(raw)[0] + ".no-torch", "w"):  # noqa: PTH122, PTH123
                pass  # `record` says so where no launch is seen
    own = importlib.machinery.PathFinder.find_spec("sitecustomize")
    if own is not None and own.loader is not None and own.origin != os.path.abspath(__file__):  # noqa: PTH100
        module = importlib.util.module_from_spec(own)
        sys.modules["sitecustomize"] = module
        own.loader.exec_module(module)


_begin()
