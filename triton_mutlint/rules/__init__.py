"""The rules, by code. A new one is a file beside this, an import and a name below."""

from __future__ import annotations

from triton_mutlint.rules.autotune.tml301_autotune_unrestored import RULE as TML301
from triton_mutlint.rules.autotune.tml304_autotune_none import RULE as TML304
from triton_mutlint.rules.ops.tml103_op_undeclared_mutation import RULE as TML103
from triton_mutlint.rules.ops.tml104_op_stale_mutation import RULE as TML104
from triton_mutlint.rules.ops.tml105_op_malformed_declaration import RULE as TML105
from triton_mutlint.rules.ops.tml106_unwrapped_launch import RULE as TML106
from triton_mutlint.rules.ops.tml108_op_returns_alias import RULE as TML108
from triton_mutlint.rules.ops.tml109_fake_mismatch import RULE as TML109
from triton_mutlint.rules.rule import Rule
from triton_mutlint.rules.tml101_undeclared_mutation import RULE as TML101
from triton_mutlint.rules.tml102_stale_mutation import RULE as TML102
from triton_mutlint.rules.tml107_contract_changed import RULE as TML107
from triton_mutlint.rules.tml201_unanalyzable_op import RULE as TML201
from triton_mutlint.rules.tml202_indirect_write import RULE as TML202
from triton_mutlint.rules.tml203_asm_purity import RULE as TML203
from triton_mutlint.rules.tml204_torch_blind_spot import RULE as TML204
from triton_mutlint.rules.tml205_torch_pessimistic import RULE as TML205
from triton_mutlint.rules.tml302_unused_pointer import RULE as TML302
from triton_mutlint.rules.tml303_const_candidate import RULE as TML303
from triton_mutlint.rules.tml901_load_failed import RULE as TML901
from triton_mutlint.rules.tml902_lowering_failed import RULE as TML902
from triton_mutlint.rules.tml903_unspecified_kernel import RULE as TML903
from triton_mutlint.rules.tml904_stale_spec import RULE as TML904
from triton_mutlint.rules.tml905_unused_suppression import RULE as TML905

__all__ = ["NAMES", "RULES", "Rule"]

RULES: dict[str, Rule] = {rule.code: rule for rule in (
    TML101, TML102, TML103, TML104, TML105, TML106, TML107, TML108, TML109, TML201, TML202, TML203, TML204, TML205,
    TML301, TML302, TML303, TML304, TML901, TML902, TML903, TML904, TML905,
)}
NAMES: dict[str, str] = {code: rule.name for code, rule in RULES.items()}
