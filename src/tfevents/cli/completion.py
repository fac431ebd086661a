"""Prints the completions of a shell, made of the command's own arguments.

- bash: eval "$(tfevents completion bash)" in ~/.bashrc
- zsh: source <(tfevents completion zsh) in ~/.zshrc, after compinit
- fish: tfevents completion fish | source in ~/.config/fish/config.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from tfevents.cli._output import Output

HELP = "print shell completions"
SHELLS = ("bash", "zsh", "fish")


class Option(NamedTuple):
    """An option, or a positional argument that has choices (`names` is empty)."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...]
    takes_value: bool


class Command(NamedTuple):
    """A subcommand."""

    name: str
    help: str
    options: tuple[Option, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `tfevents completion`."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(args: argparse.Namespace, out: Output) -> int:
    """Prints."""
    commands = list(_commands())
    writer = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]
    for line in writer(commands):
        out.line(line)
    return 0


def _commands() -> Iterator[Command]:
    from tfevents.cli import build_parser

    for action in build_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help or "" for each in action._choices_actions}
            for name, parser in action.choices.items():
                yield Command(name, helps[name], tuple(_options(parser)))


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        choices = tuple(map(str, action.choices or ()))
        if action.option_strings or choices:
            names = tuple(action.option_strings)
            yield Option(names, action.help or "", choices, action.nargs != 0)


def _bash(commands: list[Command]) -> Iterator[str]:
    yield "_tfevents() {"
    yield '    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}'
    yield "    local options=() values=() command=${COMP_WORDS[1]}"
    yield "    if (( COMP_CWORD == 1 )); then"
    names = " ".join(command.name for command in commands)
    yield f"        COMPREPLY=($(compgen -W '{names} --help --version' -- \"$current\"))"
    yield "        return"
    yield "    fi"
    yield '    case "$command $previous" in'
    for command in commands:
        for option in command.options:
            for name in option.names or (command.name,) if option.choices else ():
                word = f"'{command.name} {name}'"
                yield f"        {word}) values=({' '.join(option.choices)}) ;;"
    yield "    esac"
    yield '    case "$command" in'
    for command in commands:
        words = " ".join(name for option in command.options for name in option.names)
        yield f"        {command.name}) options=({words}) ;;"
    yield "    esac"
    yield "    if (( ${#values[@]} )); then"
    yield '        COMPREPLY=($(compgen -W "${values[*]}" -- "$current"))'
    yield '    elif [[ $current == -* ]]; then'
    yield '        COMPREPLY=($(compgen -W "${options[*]}" -- "$current"))'
    yield "    else"
    yield '        local IFS=$\'\\n\''
    yield '        COMPREPLY=($(compgen -f -- "$current"))'
    yield "    fi"
    yield "}"
    yield "complete -o filenames -F _tfevents tfevents"


def _zsh(commands: list[Command]) -> Iterator[str]:
    yield "#compdef tfevents"
    yield "_tfevents() {"
    yield "    if (( CURRENT == 2 )); then"
    yield "        local -a commands=("
    for command in commands:
        yield f"            {_single(f'{command.name}:{command.help}')}"
    yield "        )"
    yield "        _describe 'command' commands"
    yield "        return"
    yield "    fi"
    yield '    local command=${words[2]}'
    yield '    shift words; (( CURRENT-- ))'
    yield '    case "$command" in'
    for command in commands:
        yield f"        {command.name}) _arguments \\"
        for option in command.options:
            text = option.help.replace("[", "(").replace("]", ")").replace(":", ",")
            value = f"({' '.join(option.choices)})" if option.choices else "_files"
            for name in option.names:
                tail = f":value:{value}" if option.takes_value else ""
                yield f"            {_single(f'{name}[{text}]{tail}')} \\"
            if not option.names:
                yield f"            {_single(f'1:value:{value}')} \\"
        yield "            '*:path:_files' ;;"
    yield "    esac"
    yield "}"
    yield "compdef _tfevents tfevents"


def _fish(commands: list[Command]) -> Iterator[str]:
    for command in commands:
        yield (
            f"complete -c tfevents -n __fish_use_subcommand -f -a {command.name} "
            f"-d {_quoted(command.help)}"
        )
        seen = f"-n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            parts = ["complete -c tfevents", seen]
            parts += [
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            ]
            if option.choices:
                parts.append(f"-x -a '{' '.join(option.choices)}'" if option.names else
                             f"-f -a '{' '.join(option.choices)}'")
            elif option.takes_value:
                parts.append("-r")
            yield " ".join([*parts, f"-d {_quoted(option.help)}"])


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _quoted(text: str) -> str:
    """A string for fish, which knows escapes between single quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
