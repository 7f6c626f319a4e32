"""What the functions of Python's standard library do with what they are given, module by module."""

from __future__ import annotations

NOT_UNDERSTOOD = ("ctypes.", "_ctypes.", "mmap.", "multiprocessing.", "pickle.", "gc.", "sys.", "builtins.")
# Modules whose functions give numbers, strings and the like, and keep nothing.
PLAIN_MODULES = ("math.", "os.", "warnings.", "time.", "logging.", "re.", "string.", "json.", "pprint.")
# Those that neither call nor change what they are given, and those that call it and make something new.
LOOKS = ("inspect.", "typing.", "types.", "abc.", "dataclasses.", "copy.", "enum.", "weakref.", "contextlib.",
          "numbers.")
MAKES = ("itertools.", "functools.")
# Decorators that leave a function what it is.
SAME = frozenset({
    "functools.lru_cache", "functools.cache", "functools.wraps", "functools.update_wrapper",
    "functools.total_ordering", "contextlib.contextmanager", "contextlib.asynccontextmanager",
    "abc.abstractmethod", "typing.final", "typing.no_type_check", "dataclasses.dataclass",
})  # fmt: skip
