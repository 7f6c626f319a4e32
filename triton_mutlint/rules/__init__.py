"""The rules, by code. A new one is a file beside this and a line below."""

from __future__ import annotations

from triton_mutlint.rules import (
    tml101_undeclared_mutation,
    tml102_stale_mutation,
    tml103_op_undeclared_mutation,
    tml104_op_stale_mutation,
    tml105_op_malformed_declaration,
    tml106_unwrapped_launch,
    tml107_contract_changed,
    tml201_unanalyzable_op,
    tml202_indirect_write,
    tml203_asm_purity,
    tml302_unused_pointer,
    tml303_const_candidate,
    tml901_load_failed,
    tml902_lowering_failed,
    tml903_unspecified_kernel,
    tml904_stale_spec,
    tml905_unused_suppression,
)
from triton_mutlint.rules.autotune import tml301_autotune_unrestored, tml304_autotune_none
from triton_mutlint.rules.rule import Rule

__all__ = ["NAMES", "RULES", "Rule"]

_MODULES = (
    tml101_undeclared_mutation,
    tml102_stale_mutation,
    tml103_op_undeclared_mutation,
    tml104_op_stale_mutation,
    tml105_op_malformed_declaration,
    tml106_unwrapped_launch,
    tml107_contract_changed,
    tml201_unanalyzable_op,
    tml202_indirect_write,
    tml203_asm_purity,
    tml301_autotune_unrestored,
    tml302_unused_pointer,
    tml303_const_candidate,
    tml304_autotune_none,
    tml901_load_failed,
    tml902_lowering_failed,
    tml903_unspecified_kernel,
    tml904_stale_spec,
    tml905_unused_suppression,
)

RULES: dict[str, Rule] = {module.RULE.code: module.RULE for module in _MODULES}
NAMES: dict[str, str] = {code: rule.name for code, rule in RULES.items()}
