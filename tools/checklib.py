"""What the checks of the source share: finding files, blanking comments, and reporting problems."""
import argparse
import pathlib
import re
import sys

FOLDERS = ("include", "common", "src", "check", "http", "pawld", "cli", "tests", "examples", "bench")


def parse_arguments(description, *positional):
    """Every check takes --root, so that it can be tested on a small tree."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    for name in positional:
        parser.add_argument(name, type=pathlib.Path)
    return parser


def sources(root, folders=FOLDERS):
    """The C files under these folders, in order, as paths relative to the root."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.[ch]")):
            yield path.relative_to(root)


TOKENS = re.compile(
    r'(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<literal>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)


def blank(text, literals=True):
    """The text with comments and, if `literals` is set, literals replaced by blanks.  Line numbers stay the same."""
    def blanked(match):
        if match.group("literal") and not literals:
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())
    return TOKENS.sub(blanked, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Report:
    """Prints problems as file:line: text, counts them, and decides the check's exit code."""

    def __init__(self, name):
        self.name = name
        self.problems = 0

    def add(self, path, line, text):
        self.problems += 1
        print(f"{path}:{line}: {text}")

    def finish(self, looked_at):
        """A check that looked at nothing has proved nothing, so it also fails."""
        if looked_at == 0:
            print(f"{self.name}: found nothing to look at")
            sys.exit(1)
        print(f"{self.name}: {looked_at} looked at, {self.problems} wrong")
        sys.exit(1 if self.problems else 0)
