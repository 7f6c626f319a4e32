"""The top command: it finds the sub-command, `check` being the default."""

from __future__ import annotations

import importlib

import click
from click.shell_completion import CompletionItem

from triton_mutlint.cli.shell.asked import CONTEXT
from triton_mutlint.version import __version__

DEFAULT = "check"
UNNAMED = "triton_mutlint.unnamed"  # in a context's `meta`: no command was named
# Name -> (module, what `--help` says); a command is imported when called. A new one is a file and a line.
COMMANDS = {
    "check": ("triton_mutlint.cli.check", "Analyse files and report what their kernels write (the default)."),
    "snapshot": ("triton_mutlint.cli.snapshot", "Write down what every kernel may write, to compare with later."),
    "verify": ("triton_mutlint.cli.verify", "Run kernels, and compare what they write with the verdict."),
    "record": ("triton_mutlint.cli.record", "Run a program, and write the signatures of its launches into a spec."),
    "init": ("triton_mutlint.cli.init", "Write a spec with inferred signatures, or complete one."),
    "list": ("triton_mutlint.cli.list_kernels", "List kernels, their signatures and where each part came from."),
    "ir": ("triton_mutlint.cli.ir", "Print what Triton makes of a kernel, with the lines marked that write."),
    "cache": ("triton_mutlint.cli.cache", "Say where results are kept between runs, or remove them."),
    "rules": ("triton_mutlint.cli.rules", "List the rules."),
    "rule": ("triton_mutlint.cli.rules:rule", "Explain one rule."),
    "config": ("triton_mutlint.cli.config", "Show the settings in force and where each came from."),
    "completion": ("triton_mutlint.cli.completion", "Print a shell's completion script."),
}
_OWN = ("-h", "--help", "--version")
_NO_ARGUMENTS = """\
Usage: triton-mutlint [OPTIONS] PATH...

Nothing to do: name a file, a folder or path.py::kernel, for example
  triton-mutlint kernels.py
Try 'triton-mutlint --help' for the options.
"""


class _Commands(click.Group):
    """Commands by name; whatever does not start with one is arguments of `check`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name or "command")
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = [argument for argument in args if argument != "--debug"]
        if not rest and not ctx.resilient_parsing:
            click.echo(_NO_ARGUMENTS, err=True, nl=False)
            ctx.exit(2)
        if rest and rest[0] not in COMMANDS and rest[0] not in _OWN:
            rest = [DEFAULT, *rest]
            ctx.meta[UNNAMED] = True
        return super().parse_args(ctx, rest)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, and what `check` takes."""
        check = self.get_command(ctx, DEFAULT)
        assert check is not None, "the default command exists"
        with check.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True) as inner:
            default = check.shell_complete(inner, incomplete)
        # Files first: click's script for bash forgets what came before them.
        found = [] if incomplete.startswith("-") else [CompletionItem(incomplete, type="file")]
        found += [*super().shell_complete(ctx, incomplete), *default]
        return list({(item.value, item.type): item for item in found}.values())

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, f"[{DEFAULT}] [OPTIONS] PATH...")
        formatter.write_usage(ctx.command_path, "COMMAND ...", prefix="       ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of the default command, which are what people look for here."""
        check = self.get_command(ctx, DEFAULT)
        assert check is not None, "the default command exists"
        check.format_options(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=_Commands, context_settings=CONTEXT)
@click.version_option(__version__, "--version", prog_name="triton-mutlint", message="%(prog)s %(version)s")
def cli() -> None:
    """Say which parameters each Triton kernel may write, and compare that with what is declared.

    PATH is a file, a folder, path.py::kernel (or ::op), module:kernel, or - for standard input.

    Exit code: 0 nothing at or above --fail-on, 1 findings, 2 usage, configuration or internal error.
    """
