"""Files and programs are read as UTF-8 whatever the locale is, and names that are no text stop nothing."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pressroom
from pressroom.store.engine import sqlite_migrate

ROOT = Path(pressroom.__file__).parent
ASCII_ONLY = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # as Python reads files in an old locale


in_an_old_locale = pytest.mark.skipif(
    not f"{ROOT}{sys.prefix}".isascii(), reason="in such a locale Python loads no library from a folder with this name"
)


def text_calls(path: Path) -> list[tuple[int, ast.Call]]:
    """Calls that turn bytes into text, or text into bytes."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        named = {keyword.arg for keyword in node.keywords}
        match node.func:
            case ast.Attribute(attr="read_text" | "write_text"):
                found.append((node.lineno, node))
            case ast.Attribute(value=ast.Name(id="subprocess")) if "text" in named:
                found.append((node.lineno, node))
            case ast.Name(id="open") | ast.Attribute(attr="fdopen"):
                found.append((node.lineno, node))
    return found


def names_its_encoding(call: ast.Call) -> bool:
    """By name, or as the first argument of `read_text`. A mode with a b needs none."""
    if any(keyword.arg == "encoding" for keyword in call.keywords):
        return True
    constants = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "read_text":
        return bool(constants)
    return any(isinstance(value, str) and "b" in value and len(value) <= 3 for value in constants)


def test_no_file_is_read_or_written_in_the_locales_encoding() -> None:
    unnamed = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(ROOT.rglob("*.py"))
        for line, call in text_calls(path)
        if not names_its_encoding(call)
    ]

    assert unnamed == []


RENAMED = """
from pathlib import Path
from pressroom.worker import process
Path("/proc/self/comm").write_bytes(b"caf\\xc3")  # as the kernel cuts a long name, in the middle of a letter
me = process.process_identity()
print(me.rpartition("/")[2].isdigit(), process.is_alive(me), process.is_dead(me))
"""


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="processes are found by Linux's /proc")
def test_a_process_whose_name_is_no_text_is_known_to_be_alive() -> None:
    done = subprocess.run([sys.executable, "-c", RENAMED], capture_output=True, text=True)

    assert (done.stdout.split(), done.stderr) == (["True", "True", "False"], "")


@in_an_old_locale
def test_pages_are_exported_as_utf8_in_every_locale(tmp_path: Path) -> None:
    home = {"PRESSROOM_HOME": str(tmp_path / "home")}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Page.md").write_text("# żółw\n", encoding="utf-8")

    for command in (["import", str(tmp_path / "in")], ["export", str(tmp_path / "out")]):
        done = subprocess.run(
            [sys.executable, "-m", "pressroom", "wiki", *command], env=plain | home | ASCII_ONLY, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()

    assert (tmp_path / "out" / "Page.md").read_bytes() == "# żółw\n".encode()


@in_an_old_locale
def test_what_a_terminal_cannot_show_is_replaced_and_not_an_error(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'press.db'}"
    story = (
        "import asyncio, sys; from pressroom import Kind, Pressroom\n"
        "async def main():\n"
        "    async with Pressroom(sys.argv[1], kinds=[Kind('echo', print)], workers=None) as press:\n"
        "        await press.submit('echo', subject='\u017c\u00f3\u0142w')\n"
        "asyncio.run(main())"
    )
    subprocess.run([sys.executable, "-c", story, database], check=True)

    command = [sys.executable, "-m", "pressroom", "jobs", "list", "--database", database]
    done = subprocess.run(command, env=os.environ | ASCII_ONLY, capture_output=True)

    assert done.returncode == 0, done.stderr.decode()
    assert b"\\u017c" in done.stdout


@pytest.mark.parametrize("name", ["a b", "tab\tand \\ back", "żółw"])
def test_a_network_mount_is_recognised_by_any_name(tmp_path: Path, name: str) -> None:
    point = str(tmp_path / name)
    escaped = "".join(f"\\{ord(letter):03o}" if letter in " \t\n\\" else letter for letter in point)
    mounts = tmp_path / "mountinfo"
    mounts.write_bytes(
        f"1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / {escaped} rw - nfs4 host:/x rw\n".encode()
        + b"3 1 0:3 / /\xff rw - tmpfs x rw\n"
    )

    assert sqlite_migrate._filesystem_of(Path(point, "press.db"), mounts) == "nfs4"
    assert sqlite_migrate._filesystem_of(tmp_path / "press.db", mounts) == "ext4"
