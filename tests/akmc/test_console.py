"""What the compiler writes to its streams: whole, cut where a name is absurdly long, and nothing where nobody reads."""

from __future__ import annotations

import io
import sys

import pytest

from akmc import console

LONGEST = 4000


class Bytes(io.TextIOWrapper):
    """A stream that keeps its bytes, and says of itself whether it is a terminal."""

    terminal = False

    def __init__(self) -> None:
        self.kept = io.BytesIO()
        super().__init__(self.kept, encoding="utf-8")

    def isatty(self) -> bool:
        return self.terminal


def streams_in(monkeypatch: pytest.MonkeyPatch) -> tuple[Bytes, Bytes]:
    """Standard output and error of the rest of a test (a fixture comes before pytest sets its own)."""
    out, err = Bytes(), Bytes()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    return out, err


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("short", "short"),
        ("x" * LONGEST, "x" * LONGEST),
        ("x" * (LONGEST + 1), "x" * LONGEST + " ..."),
        ("a\n" + "x" * LONGEST + "\nb", "a\n" + "x" * LONGEST + "\nb"),
        ("a\n" + "x" * (2 * LONGEST) + "\nb", "a\n" + "x" * LONGEST + " ...\nb"),
    ],
)
def test_a_line_of_absurd_length_is_cut(monkeypatch: pytest.MonkeyPatch, line: str, written: str) -> None:
    streams = streams_in(monkeypatch)
    console.err(line)
    assert streams[1].kept.getvalue().decode() == written + "\n"
    assert not streams[0].kept.getvalue()


def test_output_is_written_whole_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = streams_in(monkeypatch)
    sys.stdout.write("before ")
    console.out("x" * (2 * LONGEST) + "\udcff\n")
    console.out_bytes(b"\x00\xff")
    assert streams[0].kept.getvalue() == b"before " + b"x" * (2 * LONGEST) + b"\\udcff\n\x00\xff"
    assert not console.reader_left()


def test_a_terminal_is_known_and_gets_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = streams_in(monkeypatch)
    streams[0].terminal = True
    assert console.is_terminal(sys.stdout) and not console.is_terminal(sys.stderr) and not console.is_terminal(None)
    console.out("\x1b]0;owned\x07 \x9b\n")
    assert not set(b"\x1b\x07") & set(streams[0].kept.getvalue())


def test_streams_that_are_closed_or_missing_take_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = streams_in(monkeypatch)
    streams[0].close()
    assert not console.is_terminal(streams[0])
    console.out("x")
    monkeypatch.setattr(sys, "stdout", None)
    console.out("x")


def test_a_stream_of_text_alone_gets_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdout", text)
    console.out("größe\n")
    assert text.getvalue() == "größe\n"
