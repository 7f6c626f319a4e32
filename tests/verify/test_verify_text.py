"""What `verify` says of a kernel, told from an outcome."""

from triton_mutlint.report.options import RenderOptions
from triton_mutlint.types import Location, Mutation
from triton_mutlint.verify.model import Agreement, Outcome, ParameterOutcome, Verified, VerifyReport
from triton_mutlint.verify.text import render


def said(*parameters: ParameterOutcome) -> list[str]:
    kernel = Verified("k", Location("a.py", 3, 1), Outcome.RAN, "cpu", parameters, runs=4, compared=4)
    return render(VerifyReport("cpu", "3.9.0", (kernel,)), RenderOptions(width=80)).splitlines()


def row(name: str, seen: int, through: bool = False) -> ParameterOutcome:
    agreement = Agreement.CONFIRMED if seen else Agreement.UNCONFIRMED
    return ParameterOutcome(name, "*i64", Mutation.WRITTEN, (), agreement, seen, through)


def test_a_pointer_and_what_its_addresses_lead_to_are_told_apart() -> None:
    headline, *others = said(row("s_ptr", 4), row("s_ptr", 0, through=True), row("t_ptr", 0))
    assert headline == "a.py:3 k  as predicted; never seen written: *s_ptr, t_ptr"
    assert [" ".join(line.split()) for line in others if "_ptr" in line] == [
        "s_ptr *i64 written seen in 4 of 4 runs", "*s_ptr *i64 written through never seen",
        "t_ptr *i64 written never seen"]


def test_a_report_on_nothing_says_so() -> None:
    assert render(VerifyReport("cpu", None), RenderOptions(width=80)) == "nothing to run\n"
