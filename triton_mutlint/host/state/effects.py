"""What an op's code was seen to do with the op's arguments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from triton_mutlint.host.state.state import State
from triton_mutlint.host.values.values import Value
from triton_mutlint.types import HostEffect, Location

ByArgument = dict[str, dict[HostEffect, None]]


@dataclass
class Effects:
    """Collected while an op's code is interpreted; which path led to what plays no part."""

    written: ByArgument = field(default_factory=dict)
    maybe: ByArgument = field(default_factory=dict)
    unknown: ByArgument = field(default_factory=dict)
    gaps: dict[HostEffect, None] = field(default_factory=dict)
    kernels: dict[str, None] = field(default_factory=dict)
    unwrapped: dict[tuple[str, Location], None] = field(default_factory=dict)
    unmarked: dict[tuple[str, Location], None] = field(default_factory=dict)
    returned: dict[str, None] = field(default_factory=dict)  # arguments that a result is, or is a view of
    maybe_returned: dict[str, None] = field(default_factory=dict)  # in some cases: unless copied, or on some paths
    exposed: dict[str, None] = field(default_factory=dict)  # arguments whose addresses were taken
    blind: dict[HostEffect, None] = field(default_factory=dict)  # writes through addresses of which nothing is known

    def write(self, value: Value, effect: HostEffect) -> None:
        """A write to the storage of `value`."""
        for name in value.same:
            self.written.setdefault(name, {})[effect] = None
        for name in value.maybe - value.same:
            self.maybe.setdefault(name, {})[effect] = None
        for name in value.unsure - value.same - value.maybe:
            doubt = replace(effect, text=f"{effect.text}, which may be `{name}`")
            self.unknown.setdefault(name, {})[doubt] = None

    def write_behind(self, value: Value, effect: HostEffect) -> None:
        """A write through the addresses that `value` holds."""
        for name in value.carried:
            self.written.setdefault(name, {})[effect] = None

    def lost(self, effect: HostEffect) -> None:
        """A write through an address of which nothing is known."""
        self.gaps[effect] = None
        self.blind[effect] = None

    def gap(self, effect: HostEffect, state: State, values: Iterable[Value]) -> None:
        """Code that is not understood was given `values`; harmless where no argument can be reached from them."""
        same, maybe = state.reach(values)
        if same or maybe:
            self.gaps[effect] = None
        for name in same | maybe:
            self.unknown.setdefault(name, {})[effect] = None

    def doubt(self, other: Effects) -> None:
        """Code may run that does what `other` says, or not."""
        for found in (other.written, other.maybe, other.unknown):
            for name, effects in found.items():
                self.unknown.setdefault(name, {}).update(effects)
        self.gaps.update(other.gaps)
        self.kernels.update(other.kernels)
        self.exposed.update(other.exposed)
        self.blind.update(other.blind)

    def give_back(self, results: Iterable[Value]) -> None:
        """The op returns `results`; what code that is not understood was given does not count."""
        for value in results:
            self.maybe_returned.update(dict.fromkeys(value.same | value.maybe))
            self.returned.update(() if value.mixed else dict.fromkeys(value.same))

    def settle(self) -> None:
        """Put together what was found.

        A write through an address that was lost sight of may be one to any argument whose address was taken; whatever
        leaves an argument unknown is a gap.
        """
        for effect in self.blind:
            self.gaps[effect] = None
            for name in self.exposed:
                self.unknown.setdefault(name, {})[effect] = None
        for name in self.unknown.keys() - self.written.keys() - self.maybe.keys():
            self.gaps.update(self.unknown[name])
