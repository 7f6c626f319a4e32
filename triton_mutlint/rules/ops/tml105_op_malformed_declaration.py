'''A torch op's declaration of what it mutates is malformed.

## What it does

Reports what cannot be right in `mutates_args` and in schemas, as written: a string in place of a list,
a name that is no argument, or one that holds no tensor, a position in place of a name, a name listed
twice, a list that is missing, a schema that cannot be read or does not fit the function that implements
it (number, order and names of the arguments), and a schema that disagrees with `mutates_args`. Also an
implementation of an overload that torch's own op does not have (`aten::copysign` for `copysign.Tensor`).

## Why

Most of these raise an error, but only where the registration runs: on the machine with the GPU, in the
branch for one version of torch. The others register an op that passes its arguments to the wrong
parameters, or declare less than was meant; what implements an overload that is not there is never called.

## Example

```diff
 import torch


-@torch.library.custom_op("lib::zero", mutates_args=("out"))  # a string, not a tuple
+@torch.library.custom_op("lib::zero", mutates_args=("out",))
 def zero(x: torch.Tensor, out: torch.Tensor) -> None:
     out.zero_()
```

## How to fix

List the arguments by name, each once: `mutates_args=("out",)`; `()` for an op that mutates nothing. In a
schema, mark them as `Tensor(a!) out`, and give the arguments the order of the function's parameters.
'''

from __future__ import annotations

from collections.abc import Iterator

from triton_mutlint.rules.rule import Rule, unfixed
from triton_mutlint.types import Finding, OpReport, Related, Severity


def check(op: OpReport) -> Iterator[Finding]:
    for problem in op.declaration.problems:
        elsewhere = problem.location.line != op.location.line or problem.location.file != op.location.file
        yield RULE.finding(
            problem.message, problem.location, op=op, help=problem.help,
            related=[Related(f"`{op.name}` is registered here", op.location)] if elsewhere else [],
            unfixed=unfixed(op) or "what was meant is not known",
        )


RULE = Rule("TML105", "op-malformed-declaration", Severity.ERROR, __doc__ or "", check_op=check)
