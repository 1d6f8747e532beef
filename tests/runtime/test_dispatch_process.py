"""Real processes: pipes, time, groups. What is killed must be dead, and nothing may stay a zombie."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch import group, process, spawn
from akm_run.dispatch.process import ProcessRecord, run_process
from akm_run.dispatch.spawn import Spawn, SpawnFault
from akm_schemas.bounds import STDOUT_BYTES

ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture
def flag() -> Iterator[Cancellation]:
    flag = Cancellation()
    yield flag
    flag.close()


@pytest.fixture(params=["pidfd", "polling"])
def ending(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to learn that a process has ended."""
    if request.param == "polling":
        monkeypatch.setattr(process, "_pidfd", lambda _pid: -1)
    elif not hasattr(os, "pidfd_open"):
        pytest.skip("no pidfd on this system")
    return str(request.param)


def sh(
    text: str, flag: Cancellation, cwd: Path, *, stdin: bytes | None = None, timeout: float | None = None
) -> ProcessRecord:
    return run_process(Spawn(("sh", "-c", text), ENV, str(cwd), stdin, timeout), flag)


def alive(path: Path) -> bool:
    pid = int(path.read_text())
    return any(entry.pid == pid for entry in group.live_processes())


def children() -> list[str]:
    """Our own children, zombies included."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    return listed.read_text().split() if listed.exists() else []


@pytest.mark.usefixtures("ending")
def test_output_and_status(flag: Cancellation, tmp_path: Path) -> None:
    before = children()
    record = sh("printf out; printf err >&2; exit 7", flag, tmp_path)
    assert record == ProcessRecord(7, b"out", 3, b"err", 3)
    assert sh("kill -9 $$", flag, tmp_path).returncode == -9
    assert sh("exec >&- 2>&-; sleep 0.2", flag, tmp_path).returncode == 0
    assert children() == before


def test_stdin_is_empty_or_the_prompt(flag: Cancellation, tmp_path: Path) -> None:
    assert sh("cat", flag, tmp_path).stdout == b""
    prompt = b"word \xff\n" * 100_000
    assert sh("cat", flag, tmp_path, stdin=prompt).stdout == prompt
    assert sh("wc -c >&2; cat", flag, tmp_path, stdin=b"").stdout == b""


@pytest.mark.usefixtures("ending")
def test_a_prompt_that_nobody_reads(flag: Cancellation, tmp_path: Path) -> None:
    prompt = b"x" * 1_000_000
    assert sh("exit 0", flag, tmp_path, stdin=prompt).returncode == 0
    assert sh("exec <&-; sleep 0.1; echo ok", flag, tmp_path, stdin=prompt).stdout == b"ok\n"


def test_a_flood_is_counted_and_cut(flag: Cancellation, tmp_path: Path) -> None:
    size = STDOUT_BYTES.high + 70_000
    record = sh(f"head -c {size} /dev/zero; yes abcdefg | head -c {size} >&2; echo END >&2", flag, tmp_path)
    assert (record.stdout_bytes, len(record.stdout)) == (size, STDOUT_BYTES.high)
    assert record.stderr_bytes == size + 4
    assert record.stderr_tail.endswith(b"END\n")
    assert process.TAIL_BYTES <= len(record.stderr_tail) < 1_000_000


@pytest.mark.usefixtures("ending")
def test_timeout_ends_the_whole_group_at_once(flag: Cancellation, tmp_path: Path) -> None:
    before = children()
    start = time.monotonic()
    record = sh("sleep 47 & echo $! > kid; echo hi; wait", flag, tmp_path, timeout=0.3)
    assert record.stopped == "timeout"
    assert 0.3 <= time.monotonic() - start < 3
    assert not alive(tmp_path / "kid")
    assert children() == before


@pytest.mark.usefixtures("ending")
def test_what_ignores_sigterm_is_killed(flag: Cancellation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "TERM_GRACE_S", 0.4)
    text = "trap '' TERM; echo $$ > self; sleep 60 & echo $! > kid; while :; do sleep 1; done"
    start = time.monotonic()
    record = sh(text, flag, tmp_path, timeout=0.3)
    assert record.stopped == "timeout"
    assert time.monotonic() - start >= 0.7
    assert not alive(tmp_path / "self")
    assert not alive(tmp_path / "kid")


@pytest.mark.usefixtures("ending")
def test_the_grace_is_used_and_is_still_a_timeout(flag: Cancellation, tmp_path: Path) -> None:
    text = "trap 'sleep 0.3; echo yes > tidied; echo late >&2; exit 0' TERM; sleep 40 & wait"
    record = sh(text, flag, tmp_path, timeout=0.3)
    assert (record.stopped, record.returncode) == ("timeout", 0)
    assert (tmp_path / "tidied").read_text() == "yes\n"
    assert record.stderr_tail.endswith(b"late\n")


def test_sigterm_reaches_every_process(flag: Cancellation, tmp_path: Path) -> None:
    (tmp_path / "inner.sh").write_text("trap 'echo yes > tidied; exit 0' TERM\nsleep 40 &\n: > ready\nwait\n")
    record = sh("sh inner.sh & wait", flag, tmp_path, timeout=0.7)
    assert record.stopped == "timeout"
    assert (tmp_path / "ready").exists()
    assert (tmp_path / "tidied").read_text() == "yes\n"


def test_job_control_does_not_escape(flag: Cancellation, tmp_path: Path) -> None:
    record = sh("set -m; sleep 47 & echo $! > kid; wait", flag, tmp_path, timeout=0.4)
    assert record.stopped == "timeout"
    assert not alive(tmp_path / "kid")


def test_a_stopped_process_is_ended_too(flag: Cancellation, tmp_path: Path) -> None:
    start = time.monotonic()
    assert sh("echo $$ > self; kill -STOP $$; sleep 40", flag, tmp_path, timeout=0.3).stopped == "timeout"
    assert time.monotonic() - start < 3
    assert not alive(tmp_path / "self")


@pytest.mark.usefixtures("ending")
def test_cancel(flag: Cancellation, tmp_path: Path) -> None:
    timer = threading.Timer(0.3, flag.set)
    timer.start()
    start = time.monotonic()
    record = sh("sleep 47 & echo $! > kid; wait", flag, tmp_path)
    timer.join()
    assert record.stopped == "cancelled"
    assert time.monotonic() - start < 3
    assert not alive(tmp_path / "kid")


@pytest.mark.usefixtures("ending")
def test_stdout_held_open(flag: Cancellation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "DRAIN_GRACE_S", 0.4)
    record = sh("echo part; sleep 47 & echo $! > kid; exit 0", flag, tmp_path)
    assert (record.returncode, record.stopped, record.stdout_held, record.outsiders) == (0, None, True, ())
    assert not alive(tmp_path / "kid")
    if sys.platform == "linux":
        assert record.holders == (f"sleep (process {int((tmp_path / 'kid').read_text())})",)


def test_stderr_held_open(flag: Cancellation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "DRAIN_GRACE_S", 0.3)
    record = sh("echo ok; sleep 47 > /dev/null & echo $! > kid; exit 0", flag, tmp_path)
    assert (record.stdout, record.stdout_held, record.stderr_held) == (b"ok\n", False, True)
    assert not alive(tmp_path / "kid")


def test_output_within_the_grace_is_complete(flag: Cancellation, tmp_path: Path) -> None:
    record = sh("(sleep 0.3; echo late) & echo early", flag, tmp_path)
    assert (record.stdout, record.stdout_held) == (b"early\nlate\n", False)


def test_a_cancel_during_the_grace(flag: Cancellation, tmp_path: Path) -> None:
    timer = threading.Timer(0.3, flag.set)
    timer.start()
    record = sh("sleep 47 & exit 0", flag, tmp_path)
    timer.join()
    assert record.stopped == "cancelled"


def test_another_session_is_named_and_left_alone(
    flag: Cancellation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "DRAIN_GRACE_S", 0.5)
    text = "import os, sys, time\nif os.fork() == 0:\n os.setsid(); open('kid', 'w').write(str(os.getpid()))\n time.sleep(3)"
    record = run_process(Spawn((sys.executable, "-c", text), ENV, str(tmp_path)), flag)
    assert record.stdout_held
    assert alive(tmp_path / "kid")
    if sys.platform == "linux":
        assert len(record.outsiders) == 1
        assert (tmp_path / "kid").read_text() in record.outsiders[0]


def test_a_background_process_that_redirected_its_output_lives_on(flag: Cancellation, tmp_path: Path) -> None:
    record = sh("sleep 2 > /dev/null 2>&1 & echo $! > kid; echo ok", flag, tmp_path)
    assert (record.stdout, record.stdout_held, record.stderr_held) == (b"ok\n", False, False)
    assert alive(tmp_path / "kid")


def test_no_controlling_terminal_and_a_group_of_its_own(flag: Cancellation, tmp_path: Path) -> None:
    text = "import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))"
    record = run_process(Spawn((sys.executable, "-c", text), ENV, str(tmp_path)), flag)
    assert record.stdout == b"True\n"


def test_processes_listed_by_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {entry.pid: entry for entry in group._from_ps()}
    own = listed[os.getpid()]
    assert (own.group, own.session) == (os.getpgid(0), os.getsid(0))
    monkeypatch.setattr(group, "_HAS_PROC", False)
    assert own in group.members(os.getsid(0))
    assert group.pipe_holders([0]) == []


def test_processes_that_cannot_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Iterator[group.ProcessEntry]:
        raise FileNotFoundError("ps")

    monkeypatch.setattr(group, "live_processes", refuse)
    assert [entry.group for entry in group.members(os.getpgid(0))] == [os.getpgid(0)]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("no-such-program-zz", "x"), "no such program: 'no-such-program-zz'"),
        (("./nothing", "x"), "no such program: './nothing'"),
        (("./tool.txt",), "permission denied: './tool.txt'"),
        (("tool.txt",), "permission denied: 'tool.txt' is found only as"),
        (("./folder",), "'./folder': it is a directory"),
        (("./orphan",), "the interpreter that"),
        (("./binary",), "is no program"),
        (("echo", "a\0b"), "embedded null byte"),
        (("echo", "x" * 3_000_000), "exceed the system's limit"),
    ],
)
def test_spawn_errors_are_told_apart(flag: Cancellation, tmp_path: Path, argv: tuple[str, ...], says: str) -> None:
    (tmp_path / "tool.txt").write_text("#!/bin/sh\n")
    (tmp_path / "folder").mkdir()
    for name, text in (("orphan", "#!/no/such/interpreter\n"), ("binary", "\x01\x02")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    with pytest.raises(SpawnFault) as raised:
        run_process(Spawn(argv, {"PATH": f"{tmp_path}:{ENV['PATH']}"}, str(tmp_path)), flag)
    assert says in str(raised.value)


@pytest.mark.parametrize(("name", "says"), [("missing", "no such directory"), ("file", "it is not a directory")])
def test_directories_are_named(flag: Cancellation, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpawnFault, match=f"'{tmp_path / name}' cannot be used: {says}"):
        run_process(Spawn(("echo",), ENV, str(tmp_path / name)), flag)


def test_programs_are_searched_on_the_units_own_path(tmp_path: Path) -> None:
    for folder, mode in (("a", 0o644), ("b", 0o755), ("c", 0o755)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").touch(mode)
    assert spawn.find_program("tool", f"{tmp_path}/a:b:c", str(tmp_path)) == str(tmp_path / "b" / "tool")
    assert spawn.find_program("tool", "", str(tmp_path / "c")) == str(tmp_path / "c" / "tool")
    assert spawn.find_program("./b/tool", None, str(tmp_path)) == f"{tmp_path}/./b/tool"
    assert spawn.find_program("sh", None, str(tmp_path)).endswith("/sh")


def test_units_of_a_step_run_the_same_file(flag: Cancellation, tmp_path: Path) -> None:
    """Found once, it is not looked for again; when it is gone or no program any more, it is."""
    programs: spawn.Programs = {}
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()

    def tool(folder: Path, text: str, mode: int = 0o755) -> None:
        (folder / "tool").write_text(f"#!/bin/sh\n{text}\n")
        (folder / "tool").chmod(mode)

    def said(remembered: spawn.Programs | None = programs) -> bytes:
        env = {"PATH": f"{folders[0]}:{folders[1]}:{ENV['PATH']}"}
        return run_process(Spawn(("tool",), env, str(tmp_path), programs=remembered), flag).stdout

    tool(folders[1], "echo b")
    assert said() == b"b\n"
    tool(folders[0], "echo a")
    assert (said(), said(None)) == (b"b\n", b"a\n")
    tool(folders[1], "echo b", 0o644)
    assert said() == b"a\n"
    (folders[0] / "tool").unlink()
    with pytest.raises(SpawnFault, match="is found only as"):
        said()
    assert programs == {}


def test_a_program_that_goes_away_meanwhile_is_named(
    flag: Cancellation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spawn, "find_program", lambda *_: str(tmp_path / "tool"))
    with pytest.raises(SpawnFault, match=r"no such program: 'tool' \('.*/tool' was removed"):
        run_process(Spawn(("tool",), ENV, str(tmp_path)), flag)


@pytest.mark.parametrize("argv", [("./nothing",), ("./folder",), ("./binary",), ("echo", "a\0b")])
@pytest.mark.parametrize("stdin", [None, b"prompt"], ids=["no stdin", "stdin"])
def test_what_cannot_be_started_leaves_no_pipe(
    flag: Cancellation, tmp_path: Path, argv: tuple[str, ...], stdin: bytes | None
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_text("\x01\x02")
    (tmp_path / "binary").chmod(0o755)
    sh("true", flag, tmp_path)  # the null device is opened once
    before = list(Path("/dev/fd").iterdir())
    for _ in range(3):
        with pytest.raises(SpawnFault):
            run_process(Spawn(argv, ENV, str(tmp_path), stdin), flag)
    sh("cat", flag, tmp_path, stdin=b"prompt")
    assert len(list(Path("/dev/fd").iterdir())) == len(before)


class HangsUpFirst:
    """A poll that is late, and sees that writers went but not what they wrote, as Linux may."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self.register, self.unregister = self._poll.register, self._poll.unregister

    def poll(self, timeout: float | None = None) -> list[tuple[int, int]]:
        time.sleep(0.2)
        found = self._poll.poll(timeout)
        return [(fd, select.POLLHUP if event & select.POLLHUP else event) for fd, event in found]


@pytest.mark.usefixtures("ending")
def test_what_was_written_just_before_the_end_is_read(
    flag: Cancellation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "select", SimpleNamespace(**{**vars(select), "poll": HangsUpFirst}))
    record = sh("printf out; printf err >&2", flag, tmp_path)
    assert (record.stdout, record.stderr_tail) == (b"out", b"err")


def test_many_at_once(flag: Cancellation, tmp_path: Path) -> None:
    records: list[ProcessRecord] = []

    def run(number: int) -> None:
        records.append(sh(f"sleep 0.1; echo {number}", flag, tmp_path))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(record.stdout) for record in records) == list(range(12))
    assert all(record.returncode == 0 and not record.stdout_held for record in records)
