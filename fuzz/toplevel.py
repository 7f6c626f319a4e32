"""Code at the top level of a file that gives a name its value, 0 or 1, by more than one statement.

`{name}` is the name, `{on}` the value that it has in the end, `{off}` the other one. Kernels read it as a constant.
"""

from __future__ import annotations

_TEMPLATES = """
{name} = tl.constexpr({off})
{name} = tl.constexpr({on})
=====
{name} = {off}
if {name} == {off}:
    {name} = {on}
{name} = tl.constexpr({name})
=====
{name}_all = [{off}]
for {name}_each in ({off}, {on}):
    {name}_last = {name}_each
{name} = tl.constexpr({name}_last)
=====
globals()['{name}'] = tl.constexpr({on})
=====
class {name}_Options:
    flag = {off}

{name}_alias = {name}_Options
{name}_alias.flag = {on}
{name} = tl.constexpr({name}_Options.flag)
=====
{name}_rows = {{'one': {{'flag': {off}}}, 'two': {{'flag': {off}}}}}
for {name}_row in {name}_rows.values():
    {name}_row['flag'] = {on}
{name} = tl.constexpr({name}_rows['two']['flag'])
=====
{name}_list = [{on}, {off}]
{name}_list.reverse()
{name}_list.insert(0, {name}_list.pop())
{name} = tl.constexpr({name}_list[0])
=====
{name}_outer = [[{off}]]
{name}_inner = {name}_outer[0]
{name}_inner[:] = [{on}]
{name} = tl.constexpr({name}_outer[0][0])
=====
{name}_seen = dict(flag={off})
{name}_seen |= {{'flag': {on}}}
{name} = tl.constexpr({name}_seen['flag'])
=====
{name}_box = type('Box', (), {{}})()
setattr({name}_box, 'flag', {on})
{name} = tl.constexpr({name}_box.flag)
=====
def {name}_make(flag):
    def flip():
        nonlocal flag
        flag = 1 - flag

    return flip, lambda: flag

{name}_flip, {name}_ask = {name}_make({off})
{name}_flip()
{name} = tl.constexpr({name}_ask())
=====
def {name}_default(flag, cell=[{off}]):
    old = cell[0]
    cell[0] = flag
    return old

{name}_default({on})
{name} = tl.constexpr({name}_default(7))
=====
def {name}_count():
    {name}_count.calls += 1
    return {name}_count.calls

{name}_count.calls = {on} - 2
{name}_count()
{name} = tl.constexpr({name}_count())
=====
{name}_known = {{}}

def {name}_register(flag):
    def note(function):
        {name}_known[function.__name__] = flag
        return function

    return note

@{name}_register({on})
def {name}_entry():
    pass

{name} = tl.constexpr({name}_known['{name}_entry'])
=====
class {name}_Base:
    found = []

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        {name}_Base.found.append(cls.flag)

class {name}_Sub({name}_Base):
    flag = {on}

{name} = tl.constexpr({name}_Base.found[-1])
=====
class {name}_Meter:
    def __init__(self):
        self.flag = {off}

    def turn(self):
        self.flag = 1 - self.flag
        return self

{name}_meter = {name}_Meter()
{name}_same = {name}_meter.turn()
{name} = tl.constexpr({name}_meter.flag)
=====
{name}_found = [{off}]
list(map({name}_found.append, ({off}, {on})))
{name} = tl.constexpr({name}_found[-1])
=====
{name}_seen = [{off}]

class {name}_Asked:
    def {method}(self, *others):
        {name}_seen.append({on})
        return {answer}

{name}_asked = {name}_Asked()
{name}_answer = {use}
{name} = tl.constexpr({name}_seen[-1])
=====
{name} = tl.constexpr({off})

def {name}_now(function):
    function()
    return function

@{name}_now
def {name}_enable():
    global {name}
    {name} = tl.constexpr({on})
=====
class {name}_Meta(type):
    made = [{off}]

    def __init__(cls, *parts):
        {name}_Meta.made.append({on})

class {name}_Made(metaclass={name}_Meta):
    pass

{name} = tl.constexpr({name}_Meta.made[-1])
=====
try:
    {name}_flag = {off}
    {name}_flag = {{}}['flag']
except KeyError:
    {name}_flag = {on}
{name} = tl.constexpr({name}_flag)
=====
class {name}_Frozen:
    flag = {off}

{name}_frozen = {name}_Frozen()
object.__setattr__({name}_frozen, 'flag', {on})
{name} = tl.constexpr({name}_frozen.flag)
""".strip().split("\n=====\n")


# What uses an instance, the method that this calls, and what that gives.
_USES = (("{0}.anything", "__getattr__", "None"), ("{0} >= 2", "__ge__", "True"), ("f'{{{0}}}'", "__str__", "'text'"),
         ("[*{0}]", "__iter__", "iter(())"), ("{0}[1]", "__getitem__", "0"), ("len({0})", "__len__", "1"))


def text(name: str, number: int, value: int) -> str:
    """The statements that make `name` a constant of this value."""
    use, method, answer = _USES[number // len(_TEMPLATES) % len(_USES)]
    return _TEMPLATES[number % len(_TEMPLATES)].format(
        name=name, on=value, off=1 - value, use=use.format(f"{name}_asked"), method=method, answer=answer)
