"""`triton-mutlint completion SHELL`: the script that makes a shell complete commands, options and rules."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from triton_mutlint.cli.shell.asked import CONTEXT
from triton_mutlint.cli.shell.output import write_stdout


@click.command(context_settings=CONTEXT)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
def command(shell: str) -> int:
    """Print the completion script for SHELL: bash, zsh or fish.

    \b
    bash: eval "$(triton-mutlint completion bash)"  in ~/.bashrc
    zsh:  eval "$(triton-mutlint completion zsh)"   in ~/.zshrc
    fish: triton-mutlint completion fish | source   in ~/.config/fish/config.fish
    """
    from triton_mutlint.cli.app import cli
    from triton_mutlint.cli.shell.boundary import COMPLETION_VARIABLE, PROGRAM

    completer = get_completion_class(shell)
    assert completer is not None, "click completes each of the choices"
    write_stdout(completer(cli, {}, PROGRAM, COMPLETION_VARIABLE).source() + "\n")
    return 0
