"""Values that are hashed once."""

from __future__ import annotations

from typing import Any, TypeVar

_T = TypeVar("_T")


def hashed_once(cls: type[_T]) -> type[_T]:
    """Values hold functions, which hold values: each is hashed once, and told from another by that where it differs."""
    compute, same = cls.__hash__, cls.__eq__

    def hashed(self: Any) -> int:
        own: dict[str, int] = self.__dict__
        known = own.get("_hash")
        if known is None:
            known = own["_hash"] = compute(self)
        return known

    def equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not self.__class__ or hash(self) != hash(other):
            return False
        return same(self, other)

    setattr(cls, "__hash__", hashed)  # noqa: B010
    setattr(cls, "__eq__", equal)  # noqa: B010
    return cls
