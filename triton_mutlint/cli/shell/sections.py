"""Options in `--help` under headings, so that the list can be read."""

from __future__ import annotations

from collections.abc import Mapping

import click

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "What to analyse": ("force_exclude", "spec", "no_spec", "targets", "max_variants", "timeout", "jobs", "cache_dir",
                        "no_cache", "opaque_asm", "true_import", "helpers"),
    "Rules": ("select", "extend_select", "ignore", "require_spec", "strict", "fail_on", "exit_zero"),
    "Comparing": ("snapshot", "baseline", "update_baseline"),
    "Fixing": ("fix", "diff"),
    "Output": ("formats", "output", "quiet", "verbose", "color"),
}
_REST = "Other options"


class Sectioned(click.Command):
    """A command whose options are listed by SECTIONS; one that stands in none comes last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in (*SECTIONS, _REST)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                groups[_section(parameter.name or "")].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _section(name: str) -> str:
    return next((title for title, names in SECTIONS.items() if name in names), _REST)
