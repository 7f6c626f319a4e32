"""Changes of random specs: what was asked for comes about, and nothing else; comments stay."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import yaml

from triton_mutlint.spec.as_yaml import WrittenArgument, WrittenEntry, entry_lines
from triton_mutlint.spec.write import NoPlaceError, SpecText

SEEDS = 300
NEW = WrittenEntry("n.py::new", "line 3", ("a note",), (WrittenArgument("x", "i32", "why"),), ("x",))
MORE = (WrittenArgument("new", '"*fp32"', "why"), WrittenArgument("also", "[null, 3]"))
KEYS = ("k{}", '"a.py::k{}"', "'k{}*'", "a/b.py::k{}")
SHORT = (": {}", ":", ': {args: {x:  i32, y: [null, "*fp16"], }, mutates: [x]}', ": {mutates: [x,y]}")
VALUES = ("i32", '"*fp32"', "~", "[1, 2]", "{ref: f}", "1e-5")


class Writer:
    """Writes specs as people do: comments and blank lines anywhere, braces or blocks, one indent or another."""

    def __init__(self, seed: int) -> None:
        self.random, self.lines = random.Random(seed), list[str]()
        self.step = self.random.choice((2, 4))

    def line(self, column: int, text: str) -> None:
        if self.random.random() < 0.15:
            self.lines.append(f"{' ' * self.random.choice((column, column, 0, 2))}# c{self.random.randrange(1000)}")
        if self.random.random() < 0.1:
            self.lines.append("")
        comment = self.random.choice(("", "", "", "  # e{}", "   # e{}", " # e{}")).format(self.random.randrange(1000))
        self.lines.append(f"{' ' * column}{text}{comment}")

    def entry(self, key: str) -> None:
        if self.random.random() < 0.4:
            return self.line(self.step, f"{key}{self.random.choice(SHORT)}")
        self.line(self.step, f"{key}:")
        column, names = 2 * self.step, self.random.sample("xyzw", self.random.randrange(1, 4))
        for part in self.random.sample(("args", "mutates", "allow"), self.random.randrange(1, 4)):
            if part == "allow" or self.random.random() < 0.3:
                short = {"args": "{x: i32, z: 1e-5}", "mutates": f"[x,\n{' ' * 20}y]", "allow": "[TML201]"}
                self.line(column, f"{part}: {short[part]}")
                continue
            self.line(column, f"{part}:")
            inner = column + (self.step if part == "args" else self.random.choice((0, 2)))
            for name in names:
                self.line(inner, f"{name}: {self.random.choice(VALUES)}" if part == "args" else f"- {name}")
        return None

    def spec(self) -> str:
        self.line(0, "version: 1")
        if self.random.random() < 0.95:
            self.line(0, "kernels:")
            for index in range(self.random.randrange(5)):
                self.entry(self.random.choice(KEYS).format(index))
        if self.random.random() < 0.5:
            self.line(0, "globals: {X: 1}")
        text = "\n".join(self.lines) + self.random.choice(("\n", "\n", ""))
        return text.replace("\n", self.random.choice(("\n", "\n", "\r\n")))


def change(text: str, choice: random.Random) -> tuple[str, Any]:
    """The text after random changes of it, and the data that it should have; raises NoPlaceError."""
    spec, data = SpecText(text), yaml.safe_load(text)
    kernels = data.setdefault("kernels", {}) or {}
    for key in choice.sample(sorted(kernels), min(2, len(kernels))):
        entry = kernels[key] = kernels[key] or {}
        if "mutates" in entry and choice.random() < 0.5:
            added = [*entry["mutates"], "on", "b"]
            entry["mutates"] = choice.choice((added, ["b", *entry["mutates"]], [*entry["mutates"], "c"]))
            spec.change_names(key, "mutates", lambda _, wanted=entry["mutates"]: wanted)  # type: ignore[misc]
        else:
            entry["args"] = {**(entry.get("args") or {}), "new": "*fp32", "also": [None, 3]}
            spec.add_arguments(key, MORE)
    spec.add([entry_lines(NEW)])
    return spec.text, {**data, "kernels": {**kernels, NEW.key: {"args": {"x": "i32"}, "mutates": ["x"]}}}


def comments(text: str) -> Counter[str]:
    return Counter(re.findall(r"# [ce]\d+", text))


def test_random_specs_gain_what_is_added_and_lose_nothing() -> None:
    refused = 0
    for seed in range(SEEDS):
        text = Writer(seed).spec()
        try:
            new, expected = change(text, random.Random(seed))
        except NoPlaceError:
            refused += 1
            continue
        assert yaml.safe_load(new) == expected, (seed, text, new)
        assert comments(new) == comments(text), (seed, text, new)
        assert new.count("\r\n") == (new.count("\n") if "\r\n" in text else 0)
    assert refused < SEEDS // 50
