"""What all parts of the interpreter share: where it is, what it may ask, and what it notes down."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field

from triton_mutlint.host.model import OpRegistration
from triton_mutlint.host.modules.module import HostFunction, HostModule
from triton_mutlint.host.modules.modules import HostModules
from triton_mutlint.host.state.effects import Effects
from triton_mutlint.host.state.state import State
from triton_mutlint.host.torch.known_schemas import CompiledOps
from triton_mutlint.host.values.groups import Arguments, Cell
from triton_mutlint.host.values.values import (
    NONE,
    UNSEEN,
    Attribute,
    CellId,
    ClassValue,
    KernelValue,
    Resumed,
    ScopeId,
    Tuner,
    Value,
)
from triton_mutlint.types import Access, Frame, HostEffect, KernelReport, LaunchArgument, Location, OtherLaunch

Take = Callable[[Value], bool]  # does something with an element; whether there may be another
STEPS = 20_000  # statements interpreted for one op, at most
APART = 500  # of them for something that no op argument reaches


class TooLargeError(Exception):
    """An op's code takes more steps than are spent on one."""


class Kernels:
    """What launched kernels write: here for code that launches none, as while files are imported, or kernels tuned."""

    def wait(self) -> None:
        """Return when there are verdicts to ask for."""

    def verdicts(self, module: HostModule, node: ast.FunctionDef,
                 names: frozenset[str]) -> tuple[KernelReport, ...] | str:
        """What a jit function made by `node` writes, or why that is not known.

        There are several verdicts where it may be any of several jit functions; `names` are its own.
        """
        return "it is not launched"

    def other_launch(self, module: HostModule, verdict: KernelReport, given: Mapping[str, LaunchArgument],
                     ruled_out: Set[str], unsettled: Set[str] = frozenset()) -> OtherLaunch | None:
        """What a launch may do that the verdict does not say, given its arguments; None where it cannot be told.

        Of the parameters that its values seem to rule out, those are named that it may store through all the same,
        whatever is in the names in `unsettled`.
        """
        return None


@dataclass
class Shared:
    """What module-level code gives, which is the same for all ops of a run: op arguments have no part in it.

    `globals` are the values of module-level expressions and functions by node, `results` those of calls
    that no op argument reaches, `scopes` the scope around each scope.
    """

    globals: dict[int, Value] = field(default_factory=dict)
    members: dict[int, Mapping[str, Value]] = field(default_factory=dict)  # of classes
    bases: dict[int, Sequence[Value]] = field(default_factory=dict)  # of classes, and last their class
    evaluating: set[int] = field(default_factory=set)
    results: dict[object, tuple[Value, Effects]] = field(default_factory=dict)
    scopes: dict[ScopeId, ScopeId | None] = field(default_factory=dict)
    generators: dict[int, ast.FunctionDef] = field(default_factory=dict)  # by the node of the generator expression
    unsettled: dict[int, frozenset[str]] = field(default_factory=dict)  # by kernel, the names that it reads
    tuners: dict[int, Tuner | None] = field(default_factory=dict)  # by their decorators
    rebound: dict[tuple[ScopeId, str], Value] = field(default_factory=dict)  # what other code gives top-level names
    asked: set[object] = field(default_factory=set)  # of these names, and of the code that gives them values
    loosened: set[tuple[CellId, bool]] = field(default_factory=set)  # containers of which less is known by now
    opened: set[ScopeId] = field(default_factory=set)  # scopes whose names were looked through for that
    registered: set[int] = field(default_factory=set)  # implementations of ops whose closures are known
    endless: set[ast.AST] = field(default_factory=set)  # functions that one op spent most of its steps on in vain
    state: State = field(default_factory=lambda: State(importing=True))

    def __post_init__(self) -> None:
        self.state.base = self.state.heap


@dataclass(frozen=True)
class World:
    """What interpretation may ask: the files, the verdicts on kernels, and the ops by name."""

    modules: HostModules
    kernels: Kernels
    ops: Mapping[str, Sequence[OpRegistration]]
    shared: Shared = field(default_factory=Shared)
    compiled: CompiledOps = field(default_factory=CompiledOps)


@dataclass(eq=False)
class Activation:
    """One call of a host function while it is being interpreted.

    `path` are the calls that led here, for reports; `chain` the same as part of the names of scopes and
    containers, so that those of two calls are kept apart. `entry` is what its parameters were given,
    by all recursive calls together.
    """

    module: HostModule
    name: str
    scope: ScopeId
    outer: ScopeId | None = None
    node: HostFunction | None = None
    path: tuple[Frame, ...] = ()
    chain: tuple[object, ...] = ()
    owner: ClassValue | None = None  # of the method that runs
    returned: Value | None = None
    left: list[State] = field(default_factory=list)  # the states at its returns
    results: list[Value] = field(default_factory=list)  # of its `return` statements
    yielded: Value | None = None
    take: Take | None = None  # of a generator: what is done with each value, where it stands at `yield`
    taker: Activation | None = None  # the call that does it
    origin: tuple[HostModule, ast.AST] | None = None  # the call of the project that led here, if here is a library
    is_class: bool = False  # it is no call, but the body of a class
    stopped: bool = False  # whether it goes on no more after the statement that runs
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    entry: dict[str, Value] = field(default_factory=dict)
    recursive: bool = False
    sent: Value = NONE  # what a generator is sent
    ended: State | None = None  # at its returns, for its recursive calls
    again: State | None = None  # at its recursive calls
    captured: bool = False  # a function was made in it, which may use its names later
    started: float = field(default_factory=time.thread_time)


class Core:
    """The interpreter's state that no part owns alone.

    Expressions are evaluated in `state`, which they change in place, and in the call `here`.
    """

    state: State
    here: Activation

    def __init__(self, world: World) -> None:
        self.world = world
        self.effects = Effects()
        self.active: list[Activation] = []
        self.scopes, self.globals, self.evaluating = world.shared.scopes, world.shared.globals, world.shared.evaluating
        self.module_state = world.shared.state
        self.steps = 0
        self.watch: list[State] = []  # of each `try` and `with` that runs: its state after any of its statements
        self.escaped: list[tuple[HostEffect, Value]] = []  # what code that is not understood may hold on to
        self.resuming: set[CellId] = set()
        # The special methods that run as Python may call them, with their objects, and what they are given.
        self.implied: tuple[Mapping[tuple[Value, Value], None], Value] | None = None
        self.orders: dict[ClassValue, list[ClassValue]] = {}  # in which members of classes are looked up
        self.implicit: dict[ClassValue, list[str]] = {}  # special methods of classes that Python's code may call
        self.given: frozenset[str] = frozenset()  # arguments of the op that are tensors in every call
        self.rounds: tuple[int, ...] = ()  # of loops that are followed round by round
        self.untraced = 0  # blocks around this one that switch tracing off

    # What the parts ask of each other; each is defined in one that comes later.
    evaluate: Callable[[ast.expr], Value]
    iterate: Callable[[Value, ast.AST], Value]
    block: Callable[[Sequence[ast.stmt], State], State | None]
    call: Callable[[Value, Arguments, ast.AST], Value]
    not_known: Callable[[Value, Arguments, ast.AST], Value]
    external: Callable[[str, Arguments, ast.AST], Value]
    method: Callable[[Attribute, Arguments, ast.AST], Value]
    launch: Callable[[KernelValue, str, Arguments, ast.AST], Value]
    defaults_of: Callable[[ast.arguments], tuple[tuple[str, Value], ...]]
    decorate: Callable[[ast.expr, Value], Value]
    scope_of: Callable[[str], ScopeId]
    extended: Callable[[Value, Value, ast.AST], None]
    resume: Callable[[Resumed, ast.AST, Take], Value | None]
    is_generator: Callable[[CellId], bool]
    is_called: Callable[[Value], bool]
    special: Callable[[Value, str | Iterable[str], tuple[Value, ...], ast.AST], Value | None]
    fields: Callable[[ClassValue], list[str]]
    repeated: Callable[[Callable[[], bool]], bool]
    tuned: Callable[[Tuner, Arguments], Value]

    @contextmanager
    def at(self, state: State, here: Activation) -> Iterator[None]:
        """Interpret code in another state and call for a while."""
        before = self.state, self.here
        self.state, self.here = state, here
        try:
            yield
        finally:
            self.state, self.here = before

    def evaluate_in(self, node: ast.expr, state: State, here: Activation) -> Value:
        with self.at(state, here):
            return self.evaluate(node)

    def apart(self, work: Callable[[], Value], here: Activation) -> tuple[Value, Effects]:
        """Do work that no op argument reaches, within limits of its own; what exceeds them is not known.

        Its state holds what it makes and changes itself: copies of all that a run's module-level code
        made would take most of the time of a large run.
        """
        own, shared = State(base=self.module_state.heap, scopes=self.scopes, importing=True), self.module_state
        steps, effects, active, watch = self.steps, self.effects, self.active, self.watch
        self.steps, self.effects, self.active, self.watch = STEPS - APART, Effects(), [], []
        try:
            with self.at(own, here):
                return work(), self.effects
        except (TooLargeError, RecursionError):
            return UNSEEN, self.effects
        finally:
            shared.update(own.heap)
            shared.names.update((scope, {**shared.names.get(scope, {}), **names}) for scope, names in own.names.items())
            self.steps, self.effects, self.active, self.watch = steps, effects, active, watch

    @property
    def closure(self) -> ScopeId | None:
        """The scope whose names a function sees that is made here: not that of a class; None for a module's."""
        if self.here.name == "<module>":
            return None
        return self.scopes.get(self.here.scope) if self.here.is_class else self.here.scope

    def step(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise TooLargeError

    def escape(self, value: Value, text: str, node: ast.AST) -> None:
        """`value` is put where it is not followed: whatever is not known may write it, now or later."""
        same, maybe = self.state.reach([value])
        if same or maybe or value.cells:
            effect = self.effect(text, node)
            self.effects.gap(effect, self.state, [value])
            self.escaped.append((effect, value))

    def origin(self, node: ast.AST) -> tuple[HostModule, ast.AST]:
        """The project's code of which a message speaks: `node`, or the call that led into a library to it."""
        return self.here.origin or (self.here.module, node)

    def place(self, node: ast.AST) -> Location:
        module, node = self.origin(node)
        return Location(module.display, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)

    def quoted(self, node: ast.AST, after: str = "") -> str:
        """The source of `node` for a message, and what comes `after` it."""
        _, shown = self.origin(node)
        return f"`{text_of(shown)}{after if shown is node else ''}`"

    def callee(self, node: ast.AST) -> str:
        """The source of what is called at `node`, for a message."""
        if self.here.origin is not None:
            return f"what {self.quoted(node)} calls"
        return self.quoted(node.func if isinstance(node, ast.Call) else node)

    def effect(self, text: str, node: ast.AST, kernel: str = "", access: Access | None = None) -> HostEffect:
        _, shown = self.origin(node)
        called = node.func if shown is node and isinstance(node, ast.Call) else shown
        code = " ".join(ast.unparse(called).split()) if isinstance(called, ast.expr) else ""
        return HostEffect(self.place(node), text, self.here.path, kernel, access, code)

    def cell(self, node: ast.AST, what: str = "") -> CellId:
        """The name of the container made at `node` in this call, or of one that an iterator makes when it is run."""
        maker: CellId | None = getattr(node, "maker", None)
        if maker is not None:
            return (*maker[:-2], what, maker[-1])
        place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0))
        return (self.here.module.display, *place, what, self.here.chain, *self.rounds)

    def make(self, node: ast.AST, content: Cell, what: str = "") -> Value:
        return self.state.make(self.cell(node, what), content)


def text_of(node: ast.AST, limit: int = 48) -> str:
    """The source of an expression for a message, shortened."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
