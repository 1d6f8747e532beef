"""Dotenv files, secrets, and their errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from akm_run.envfile import EnvFile, EnvFileError, config_folder, parse, read_env_file, secret_variable
from akm_schemas.bounds import ENV_FILE_BYTES, SECRET_BYTES


def read(tmp_path: Path, text: str, secrets: dict[str, str] | None = None, **ambient: str) -> EnvFile:
    """The file with all its keys, and the named secrets, taken as frozen."""
    (tmp_path / "x.env").write_bytes(text.encode())
    keys = sorted({entry.name for entry in parse(text, "env/x.env")})
    return read_env_file(
        tmp_path / "x.env", "env/x.env", keys=keys, secret_names=sorted(secrets or {}), ambient=ambient
    )


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=v", "v"),
        ("export K=v", "v"),
        ("  export\tK=v  ", "v"),
        ("K = v w ", "v w"),
        ("K=", ""),
        ("K=a#b # comment", "a#b"),
        ("K=# comment", ""),
        ('K=it\'s "so" $HOME ${HOME}', 'it\'s "so" $HOME ${HOME}'),
        ("K='  a\\n#${secret:x} '  # comment", "  a\\n#${secret:x} "),
        (r'K="a\n\t\"\\ \x #b"', 'a\n\t"\\ \\x #b'),
        ('K="one\ntwo\r\nthree"', "one\ntwo\nthree"),
        ('K=""', ""),
        ("K=a=b=c\r", "a=b=c"),
        ("K=first\nK=last", "last"),
        ("\ufeff# head\n\n \t\nK=v", "v"),
    ],
)
def test_values(tmp_path: Path, line: str, value: str) -> None:
    assert read(tmp_path, line + "\nOTHER=1\n").variables == {"K": value, "OTHER": "1"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A=1\nnot an assignment\n", "env/x.env:2: expected KEY=VALUE"),
        ("1A=1\n", "env/x.env:1: expected KEY=VALUE"),
        ('A=1\n\nB="open\nC=1\n', 'env/x.env:3: B: the value opened by " is not closed'),
        ("A='two\nlines'\n", "env/x.env:1: A: the value opened by ' is not closed"),
        ("A='x' y\n", "env/x.env:1: A: there is text after the closing '"),
        ('A="1\n2"\nnope\n', "env/x.env:3: expected"),
        ("A=${secret:x\n", "env/x.env:1: A: ${secret:...} lacks its closing brace"),
        ("A=${secret:../x}\n", "env/x.env:1: A: '../x' is no secret name"),
        ("A=${secret:}\n", "env/x.env:1: A: '' is no secret name"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(EnvFileError) as raised:
        read(tmp_path, text)
    assert says in str(raised.value)


def test_a_missing_or_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "latin.env").write_bytes(b"A=\xe9\n")
    (tmp_path / "folder.env").mkdir()
    os.mkfifo(tmp_path / "pipe.env")
    (tmp_path / "device.env").symlink_to("/dev/zero")
    (tmp_path / "long.env").write_bytes(b"A=1\n".ljust(ENV_FILE_BYTES.high + 1, b"#"))
    (tmp_path / "file").touch()
    for name, says in (
        ("no.env", "the env file env/no.env is missing"),
        ("latin.env", "the env file env/latin.env is not UTF-8"),
        ("folder.env", "the env file env/folder.env cannot be read: it is a directory"),
        ("pipe.env", "the env file env/pipe.env cannot be read: it is no regular file"),
        ("device.env", "the env file env/device.env cannot be read: it is no regular file"),
        ("long.env", f"the env file env/long.env is longer than {ENV_FILE_BYTES.high} bytes"),
        ("file/x.env", "the env file env/file/x.env cannot be read: not a directory"),
    ):
        with pytest.raises(EnvFileError, match=says):
            read_env_file(tmp_path / name, f"env/{name}", keys=["A"], secret_names=[], ambient={})


def test_a_secret_file_that_cannot_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "device").symlink_to("/dev/zero")
    (folder / "long").write_bytes(b"x" * (SECRET_BYTES.high + 1))
    (folder / "longest").write_bytes(b"x" * SECRET_BYTES.high)
    for name, says in (
        ("pipe", "cannot be read: it is no regular file"),
        ("device", "cannot be read: it is no regular file"),
        ("long", f"is longer than {SECRET_BYTES.high} bytes"),
    ):
        with pytest.raises(EnvFileError) as raised:
            read(tmp_path, f"\nA=${{secret:{name}}}\n", {name: ""}, AKM_CONFIG_DIR=str(tmp_path))
        assert str(raised.value) == f"env/x.env:2: A: the secret file {str(folder / name)!r} {says}"
    longest = read(tmp_path, "A=${secret:longest}\n", {"longest": ""}, AKM_CONFIG_DIR=str(tmp_path))
    assert len(longest.secrets[0]) == SECRET_BYTES.high


def test_secrets_come_from_the_environment_first(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "secrets"
    folder.mkdir(parents=True)
    (folder / "db-password").write_text("from-file\n")
    (folder / "other.key").write_text("two\nlines\n")
    text = 'A=pg://u:${secret:db-password}@h\nB="${secret:other.key}!"\n'
    secrets = {"db-password": "", "other.key": ""}
    ambient = {"AKM_CONFIG_DIR": str(tmp_path / "config")}
    file = read(tmp_path, text, secrets, **ambient)
    assert file.variables == {"A": "pg://u:from-file@h", "B": "two\nlines!"}
    assert set(file.secrets) == {"from-file", "two\nlines"}
    file = read(tmp_path, text, secrets, AKM_SECRET_DB_PASSWORD="${secret:other.key}", **ambient)
    assert file.variables["A"] == "pg://u:${secret:other.key}@h"


def test_a_missing_secret_says_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(EnvFileError) as raised:
        read(tmp_path, "\nA=${secret:api.key}\n", {"api.key": ""}, AKM_CONFIG_DIR=str(tmp_path))
    message = str(raised.value)
    assert message.startswith("env/x.env:2: A: there is no secret 'api.key'")
    assert "AKM_SECRET_API_KEY" in message
    assert str(tmp_path / "secrets" / "api.key") in message


def test_only_what_was_frozen(tmp_path: Path) -> None:
    (tmp_path / "x.env").write_text("A=1\nLATER=2\nB=${secret:new}\n")

    def reading(keys: list[str]) -> EnvFile:
        return read_env_file(tmp_path / "x.env", "env/x.env", keys=keys, secret_names=[], ambient={})

    assert reading(["A"]).variables == {"A": "1"}
    with pytest.raises(EnvFileError, match="no longer sets C, D"):
        reading(["D", "A", "C"])
    with pytest.raises(EnvFileError, match=r"env/x\.env:3: B mentions the secret 'new', which the plan does not list"):
        reading(["B"])


def test_config_folder_and_variable_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert config_folder({"AKM_CONFIG_DIR": "/c", "XDG_CONFIG_HOME": "/x"}) == Path("/c")
    assert config_folder({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}) == Path("/x/akm")
    assert config_folder({"HOME": "/h"}) == Path("/h/.config/akm")
    monkeypatch.setattr("sys.platform", "darwin")
    assert config_folder({"HOME": "/h"}) == Path("/h/Library/Application Support/akm")
    assert secret_variable("db-password.v2") == "AKM_SECRET_DB_PASSWORD_V2"
