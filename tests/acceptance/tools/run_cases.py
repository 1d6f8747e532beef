#!/usr/bin/env python3
"""Run the black-box cases of ../cases (or the files given) against the akmc and akm-run found on PATH.

Usage: run_cases.py [--only SUBSTRING] [--jobs N] [FILE.yaml ...]
Prints one line per failing case and closes with "N passed, M failed"; exits 1 if any failed.
Needs ruamel.yaml (a dependency of the project).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ruamel.yaml import YAML

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
from stub_llm import Stub  # noqa: E402

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
EXPECTATIONS = ("rules", "warnings", "no_warnings", "json", "json_null")


def dig(document: object, dotted: str) -> object:
    """Value at a dotted path; list indices are numbers, `steps.#id=a.status` picks by a field."""
    value = document
    for part in dotted.split("."):
        if part.startswith("#"):
            key, _, wanted = part[1:].partition("=")
            value = next(item for item in value if str(item.get(key)) == wanted)  # type: ignore[union-attr]
        elif isinstance(value, list):
            value = len(value) if part == "length" else value[int(part)]
        else:
            value = value[part]  # type: ignore[index]
    return value


def strings(value: object) -> list[str]:
    """Every string in a JSON value, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in strings(item)]
    return [text for item in value for text in strings(item)] if isinstance(value, list) else []


def expand(value: object, memory: dict[str, str]) -> object:
    """`${NAME}` of a remembered name, everywhere in a step."""
    if isinstance(value, str):
        for name, text in memory.items():
            value = value.replace("${" + name + "}", text)
        return value
    if isinstance(value, dict):
        return {expand(key, memory): expand(item, memory) for key, item in value.items()}
    return [expand(item, memory) for item in value] if isinstance(value, list) else value


def wait_until(condition, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def write(root: pathlib.Path, files: dict[str, object], memory: dict[str, str]) -> None:
    link = {name: text for name, text in memory.items() if name == "LLM"}
    for name, content in (files or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_bytes(str(expand(str(content), link)).encode("utf-8", "surrogatepass"))


def start(argv: list[str], root: pathlib.Path, env: dict[str, str], stdin: str, **how: object) -> subprocess.Popen:
    """A process in a session of its own, so that all of it can be killed."""
    process = subprocess.Popen(argv, cwd=root, env=env, stdin=subprocess.PIPE, start_new_session=True, **how)  # type: ignore[call-overload]
    if how.get("stdout") is not subprocess.PIPE:
        try:
            process.stdin.write(stdin.encode())
            process.stdin.close()
        except BrokenPipeError:
            pass
    return process


def kill(process: subprocess.Popen, number: int, group: bool) -> None:
    try:
        os.killpg(process.pid, number) if group and hasattr(os, "killpg") else process.send_signal(number)
    except ProcessLookupError:
        pass


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return (
            pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        )  # an orphan nobody reaped yet is dead
    except ProcessLookupError:
        return False
    except OSError:
        return not pathlib.Path("/proc/self").exists()


def check_log(step: dict, stub: Stub) -> list[str]:
    problems = []
    requests = stub.requests
    for key, wanted in step.items():
        if key == "count":
            if len(requests) != wanted:
                problems.append(f"{len(requests)} requests, expected {wanted}")
        elif key == "max_in_flight":
            if (most := max((entry["in_flight"] for entry in requests), default=0)) > wanted:
                problems.append(f"{most} requests at once, at most {wanted} expected")
        else:
            try:
                entry = requests[int(key)]
            except IndexError:
                problems.append(f"there is no request {key}: {len(requests)} came")
                continue
            for piece, present in [(p, True) for p in wanted.get("has", [])] + [
                (p, False) for p in wanted.get("lacks", [])
            ]:
                if (piece in entry["text"]) != present:
                    problems.append(
                        f"request {key} {'lacks' if present else 'has'} {piece!r}: {entry['text'][-400:]!r}"
                    )
            for path, value in {
                **wanted.get("json", {}),
                **{f"headers.{k}": v for k, v in wanted.get("headers", {}).items()},
            }.items():
                try:
                    found = dig(entry if path.startswith("headers.") else entry["body"], path)
                except (KeyError, IndexError, StopIteration, TypeError, ValueError):
                    found = None
                if found != value:
                    problems.append(f"request {key}: {path} is {found!r}, expected {value!r}")
            if "gap_s" in wanted and (gap := entry["at"] - requests[int(key) - 1]["at"]) < wanted["gap_s"]:
                problems.append(
                    f"request {key} came {gap:.2f} s after the one before, at least {wanted['gap_s']} expected"
                )
    return problems


def check_step(
    step: dict, root: pathlib.Path, env: dict[str, str], memory: dict[str, str], running: dict, stub: Stub | None
) -> list[str]:
    if "write" in step:
        write(root, step["write"], memory)
        return []
    if "file_is" in step:
        problems = []
        for name, content in step["file_is"].items():
            found = (root / name).read_text() if (root / name).exists() else None
            if found != content:
                problems.append(f"{name}: expected {content!r}, found {found!r}")
        return problems
    step = expand(step, memory)  # type: ignore[assignment]
    if "sh" in step:
        done = subprocess.run(["sh", "-c", step["sh"]], cwd=root, env=env, capture_output=True, text=True, timeout=60)
        return [] if done.returncode == 0 else [f"set-up failed: {step['sh']!r}: {(done.stderr or done.stdout)[-200:]}"]
    for verb in ("same", "differ"):
        if verb in step:
            one, two, path = step[verb]
            left, right = (dig(json.loads((root / name).read_text()), path) for name in (one, two))
            if (left == right) != (verb == "same"):
                return [f"{path} of {one} and {two}: expected {verb}, got {str(left)[:300]!r} and {str(right)[:300]!r}"]
            return []
    if "lines" in step:
        counts = {
            name: (root / name).read_bytes().count(b"\n") if (root / name).exists() else 0 for name in step["lines"]
        }
        return [
            f"{name}: {counts[name]} lines, expected {wanted}"
            for name, wanted in step["lines"].items()
            if counts[name] not in (wanted if isinstance(wanted, list) else [wanted])
        ]
    if "let" in step:
        for name, path in step["let"].items():
            if not (root / path).exists():
                return [f"{path} was not written"]
            memory[name] = (root / path).read_text().strip()
        return []
    if "until_file" in step:
        found = wait_until((root / step["until_file"]).exists, step.get("within_s", 20))
        return [] if found else [f"{step['until_file']} did not appear"]
    if "gone" in step:
        pids = {name: int((root / name).read_text()) for name in step["gone"]}
        return [
            f"process {pid} of {name} is still alive"
            for name, pid in pids.items()
            if not wait_until(lambda: not alive(pid), 2)
        ]
    if "kill" in step:
        process = running[step["kill"]][0]
        if process.poll() is not None:
            return [f"{step['kill']} had ended already, exit {process.returncode}"]
        kill(process, signal.Signals[f"SIG{step.get('signal', 'TERM')}"], step.get("group", False))
        return []
    if "llm_log" in step:
        return check_log(step["llm_log"], stub)  # type: ignore[arg-type]

    started = time.monotonic()
    limit = float(step.get("within_s", 60))
    if "wait" in step:
        process, out_file, err_file, argv = running[step["wait"]]
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            return [f"{' '.join(argv)}: no end within {limit} s"]
        raw_out, raw_err = ((out_file.seek(0), out_file.read())[1], (err_file.seek(0), err_file.read())[1])
    else:
        argv = [str(word) for word in step["run"]]
        try:
            if "background" in step:
                files = tempfile.TemporaryFile(), tempfile.TemporaryFile()
                running[step["background"]] = (
                    start(argv, root, env, str(step.get("stdin", "")), stdout=files[0], stderr=files[1]),
                    *files,
                    argv,
                )
                return []
            process = start(argv, root, env, "", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except FileNotFoundError:
            return [f"{argv[0]}: not found on PATH"]
        try:
            raw_out, raw_err = process.communicate(str(step.get("stdin", "")).encode(), timeout=limit)
        except subprocess.TimeoutExpired:
            kill(process, KILL, True)
            process.stdout.close(), process.stderr.close(), process.wait()
            return [f"{' '.join(argv)}: no end within {limit} s"]
    if "save" in step:
        (root / step["save"]).write_bytes(raw_out)
    return judge(step, process.returncode, raw_out, raw_err, memory, time.monotonic() - started)


def judge(step: dict, code: int, raw_out: bytes, raw_err: bytes, memory: dict[str, str], took: float) -> list[str]:
    out, err = raw_out.decode("utf-8", "replace"), raw_err.decode("utf-8", "replace")
    problems: list[str] = []
    if "Traceback (most recent call last)" in out + err:
        problems.append("printed a traceback")
    codes = step.get("exit", 0)
    if code not in (codes if isinstance(codes, list) else [codes]):
        problems.append(f"exit {code}, expected {codes} ({took:.1f} s): {(err or out)[-300:]!r}")
    document = None
    if any(key in step for key in EXPECTATIONS) or '"runId"' in out:
        try:
            document = json.loads(out)
        except (ValueError, RecursionError):
            if any(key in step for key in EXPECTATIONS):
                problems.append(f"stdout is not one JSON document: {out[:200]!r}")
    if isinstance(document, dict):
        if "runId" in document:
            memory["RUN"] = str(document["runId"])
        found = document.get("diagnostics", [])
        if "rules" in step:
            errors = sorted(
                (d["rule"], os.path.normpath(d["path"]), d["line"]) for d in found if d["severity"] == "error"
            )
            wanted = sorted((rule, os.path.normpath(path), line) for rule, path, line in step["rules"] or [])
            if errors != wanted:
                problems.append(f"errors {errors}, expected {wanted}")
        if "warnings" in step or "no_warnings" in step:
            names = {d["rule"] for d in found if d["severity"] == "warning"}
            if missing := [name for name in step.get("warnings", []) if name not in names]:
                problems.append(f"warnings {sorted(names)} lack {missing}")
            if present := [name for name in step.get("no_warnings", []) if name in names]:
                problems.append(f"unwanted warnings {present}")
        for path, wanted in [*step.get("json", {}).items(), *((path, None) for path in step.get("json_null", []))]:
            try:
                value = dig(document, path)
            except (KeyError, IndexError, StopIteration, TypeError, ValueError) as lost:
                if path not in step.get("json_null", []):
                    problems.append(f"{path}: not in the output ({lost!r})")
                continue
            if value != wanted or isinstance(value, bool) != isinstance(wanted, bool):
                problems.append(f"{path}: {str(value)[:300]!r}, expected {str(wanted)[:300]!r}")
    for key, text, wanted in (
        ("stdout_has", out, True),
        ("stderr_has", err, True),
        ("stdout_lacks", out, False),
        ("stderr_lacks", err, False),
    ):
        for piece in step.get(key, []):
            if (piece in text) != wanted:
                problems.append(f"{key} {piece!r}: {text[-300:]!r}")
    if "says" in step or "says_not" in step:
        everything = "\n".join([err, out, *strings(document if document is not None else parsed(out))])
        for piece in step.get("says", []):
            if not any(choice in everything for choice in (piece if isinstance(piece, list) else [piece])):
                problems.append(f"says nothing of {piece!r}: {(err + out)[-600:]!r}")
        problems += [f"must not say {piece!r}" for piece in step.get("says_not", []) if piece in everything]
    return problems


def parsed(out: str) -> object:
    try:
        return json.loads(out)
    except (ValueError, RecursionError):
        return None


def run_case(case: dict) -> list[str]:
    root = pathlib.Path(tempfile.mkdtemp(prefix="case-"))
    running: dict = {}
    stub = Stub(case["llm"]) if "llm" in case else None
    try:
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")}
        env.update(HOME=str(root / ".home"), XDG_CONFIG_HOME=str(root / ".home/config"), NO_COLOR="1", PYTHONUTF8="1")
        env.update({key: str(value) for key, value in (case.get("env") or {}).items()})
        (root / ".home").mkdir()
        memory: dict[str, str] = {"DIR": str(root), **({"LLM": stub.url} if stub else {})}
        write(root, case.get("files") or {}, memory)
        for number, step in enumerate(case["steps"], 1):
            if problems := check_step(step, root, env, memory, running, stub):
                return [f"step {number}: {problem}" for problem in problems]
        if stub and stub.unscripted:
            return [f"the LLM stub got {stub.unscripted} requests more than it had answers for"]
        return []
    except Exception as broken:  # one broken case must not hide the others
        return [f"the case could not be run: {broken!r}"]
    finally:
        for process, *files, _ in running.values():
            if process.poll() is None:
                kill(process, KILL, True)
                process.wait()
            for file in files:
                file.close()
        if stub:
            stub.__exit__()
        shutil.rmtree(root, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    yaml = YAML(typ="safe")
    files = options.files or sorted((HERE.parent / "cases").glob("*.yaml"))
    cases = [
        case for file in files for case in yaml.load(file.read_text(encoding="utf-8")) if options.only in case["id"]
    ]
    ids = [case["id"] for case in cases]
    if duplicate := {name for name in ids if ids.count(name) > 1}:
        print(f"duplicate case ids: {sorted(duplicate)}")
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, problems in zip(cases, pool.map(run_case, cases)):
            if problems:
                failed += 1
                print(f"FAIL {case['id']}: {problems[0]}" + "".join(f"\n     {line}" for line in problems[1:]))
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
