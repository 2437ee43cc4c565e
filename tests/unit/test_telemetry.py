"""Telemetry: what is masked and what is not, and the lines of the log."""

import asyncio
import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pails import telemetry
from pails.telemetry import bind, mask
from pails.telemetry.logs import PrivateFileHandler

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/x\nAAAA\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    # (text, what must be gone, what must still be there)
    ("Authorization: Bearer abc.DEF-123_xyz", "abc.DEF", "Authorization: Bearer"),
    ("authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz", "Basic"),
    ('{"Authorization": "Bearer abcdef"}', "abcdef", '"}'),
    ("'authorization': 'token 0123abcd',", "0123abcd", "',"),
    ('"{\\"Authorization\\": \\"Bearer zzzzzz\\"}"', "zzzzzz", '\\"}"'),
    ("-H 'Authorization: opaquevalue'", "opaquevalue", "-H"),
    ("sent bearer a1b2c3d4e5 to the host", "a1b2c3d4e5", "to the host"),
    ("https://0123456789abcdef0123@host/x", "0123456789", "@host/x"),
    ('password = "it\'s s3cret"', "s3cret", "password"),
    ("secret: 'say \"abc1\"'", "abc1", "secret"),
    ('PASSWORD="a\\"bc1234"', "bc1234", "PASSWORD"),
    ("key sk-proj-Ab_cd-1234567890 failed", "Ab_cd", "failed"),
    ("sk-ant-api03-xxxxyyyyzzzz", "xxxx", ""),
    ("(sk-abcdefgh)", "abcdefgh", ")"),
    ("ghp_0123456789abcdefABCDEF", "0123", ""),
    ("github_pat_11ABCDEFG0123456789_abcdef", "11ABC", ""),
    ("glpat-abcdefgh12345678", "abcdefgh", ""),
    ("xoxb-123456789-abcdef", "123456", ""),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN", ""),
    ("AIzaSyA-0123456789012345678901234567", "SyA", ""),
    ("hf_abcdefghijklmnopqrstu", "abcdefg", ""),
    ("sk_live_4eC39HqLyjWDarj", "4eC39", ""),
    ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM", "eyJzdWI", ""),
    (f"before\n{PEM}\nafter", "MIIEow", "after"),
    (json.dumps({"pem": PEM}), "MIIEow", '"}'),
    ("cut: -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r", "b3Blb", "cut:"),
    ("https://me:hunter2@example.org/x.git", "hunter2", "me:[masked]@example.org/x.git"),
    ("postgres://u:p@db/x", ":p@", "postgres://u:[masked]@db/x"),
    ("Set-Cookie: sid=31d4d96e; Path=/", "31d4d96e", "Set-Cookie:"),
    ("X-Api-Key: 0123456789abcdef", "0123456789abcdef", "X-Api-Key"),
    ("export GITHUB_TOKEN=plainword", "plainword", "export GITHUB_TOKEN="),
    ("OPENAI_API_KEY='abcdefgh'", "abcdefgh", "'"),
    ("DB_PASSWORD=x", "=x", "DB_PASSWORD="),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalr", ""),
    ("password=hunter2", "hunter2", "password="),
    ("curl 'https://h/p?token=abc12345&x=1'", "abc12345", "&x=1"),
    ("curl 'https://h/p?password=word&x=1'", "=word", "&x=1"),
    ('{"api_key": "abcd", "n": 1}', "abcd", '", "n": 1}'),
    ('{"clientSecret":"s3cr3t!!"}', "s3cr3t", '"}'),
    ("apiKey: 'abcd efgh'", "efgh", "'"),
    ('"{\\"password\\": \\"hunter2\\"}"', "hunter2", '\\"}"'),
    ("db:\n  password: correcthorse\n  port: 1", "correcthorse", "port: 1"),
    ("refresh_token: 1//0gAbCdEf123", "0gAbC", ""),
    ("Incorrect API key provided: sk-proj-****wxyz.", "wxyz", "."),
    ("pk-0123456789abcdefgh", "0123", ""),
    ("gsk_abcdefghijklmnopqrst", "abcd", ""),
    ("xai-abcdefghijklmnopqrst", "abcd", ""),
    ("key-0123456789abcdef0123456789abcdef", "0123", ""),
    ("AIza-0123456789abcdef", "0123", ""),
    ("use Bearer abc.def/ghi, please", "abc", ", please"),
    ("b'Bearer abc\\ndef'", "def", "'"),
    ("密码 password=密码123 结束", "密码123", "结束"),
]

ORDINARY = [
    "git clone ssh://git@host/x",
    "def login(user: str, password: str, token: str | None = None) -> Session:",
    "async def f(api_key: SecretStr, *, secret: Optional[str] = None): ...",
    "client = Client(api_key=api_key, token=self._token, password=get_password())",
    'key = os.environ["OPENAI_API_KEY"]; token = settings.token',
    "password = None; secret = true; token = undefined",
    "api_key = ${OPENAI_API_KEY}  # or <your key>",
    'api_key = "${OPENAI_API_KEY}"',
    "SyntaxError: unexpected token: identifier",
    "Enter the password: please use a good one.",
    "max_tokens=4096 tokens: 12 prompt_tokens: 17111",
    "primary_key=True, sort_key=name, key: value, keyboard=us",
    "basic authentication and bearer authentication are refused",
    "the authorization of a request",
    "task-management risk-assessment sk-SK disk-usage",
    "key_derivation_function key-value-store keyboard_interrupt_handler pkcs12_certificate_x",
    "The key (OPENAI_API_KEY) of model claude-sonnet-4-5-20250929 task-force",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    '"signature": "EqoBCkgIARABGAIiQL2UoU0b1OHYi+yCHpBY7U6FQW8/FcoLewocJQPa2HnmLM"',
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
    "http://localhost:8080/v1 and git@github.com:a/b.git and a@b.c",
    "see https://example.org:443/a@b?c=d",
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    x = 1',
    "cookies are good; a cookie a day",
    "秘密 token 是 令牌",
]


@pytest.mark.parametrize(("text", "gone", "kept"), SECRETS)
def test_a_secret_is_masked_and_what_surrounds_it_stays(text: str, gone: str, kept: str) -> None:
    masked = mask(text)

    assert gone in text
    assert gone not in masked
    assert "[masked]" in masked
    assert kept in masked


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_and_code_are_untouched(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("text", [text for text, _, _ in SECRETS])
def test_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)


def test_a_known_secret_is_masked_whatever_it_looks_like() -> None:
    assert mask("he said plain words, twice: plain words", "plain words") == (
        "he said [masked], twice: [masked]"
    )
    assert mask("nothing is known", "") == "nothing is known"


@given(st.text(), st.text())
def test_no_text_around_a_secret_saves_it(before: str, after: str) -> None:
    assert "abcdefgh" not in mask(f"{before} sk-abcdefgh {after}")


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a-",
        "key-",
        "sk-",
        "bearer ",
        "a.",
        "eyJ",
        "://",
        "://a:",
        "-----BEGIN ",
        "password",
        "token=",
        '"',
        "\\",
    ],
)
def test_large_output_is_masked_in_linear_time(unit: str) -> None:
    """A rule that looks back over its own text would take minutes here."""
    text = unit * (300_000 // len(unit))

    assert mask(text + " sk-abcdefgh1234").count("1234") == 0


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger()
    level = root.level
    assert telemetry.configure(tmp_path, "INFO") == ()
    yield tmp_path / "pails.jsonl"
    telemetry.close()
    root.setLevel(level)


def file_handler() -> PrivateFileHandler:
    (handler,) = [h for h in logging.getLogger().handlers if isinstance(h, PrivateFileHandler)]
    return handler


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_a_line_is_json_with_its_ids_and_masked(log: Path) -> None:
    with bind(trace_id="t1", session_id="s1", agent="main"):
        logging.getLogger("pails.x").info("key %s\n第二行 😀", "sk-abcdefgh1234")

    (line,) = lines(log)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "INFO",
        "logger": "pails.x",
        "message": "key [masked]\n第二行 😀",
        "trace_id": "t1",
        "session_id": "s1",
        "agent": "main",
    }


def test_an_exception_is_logged_and_masked(log: Path) -> None:
    try:
        raise RuntimeError("password=hunter2 was wrong")
    except RuntimeError:
        logging.getLogger("pails.x").exception("failed")

    (line,) = lines(log)
    assert "RuntimeError: password=[masked] was wrong" in line["exception"]
    assert "hunter2" not in log.read_text()


async def test_ids_follow_tasks_and_do_not_leak_between_them(log: Path) -> None:
    logger = logging.getLogger("pails.x")

    async def work(name: str) -> None:
        with bind(trace_id=name):
            await asyncio.sleep(0)
            await asyncio.to_thread(logger.info, "thread")

    with bind(session_id="s"):
        await asyncio.gather(work("a"), work("b"))
    logger.info("outside")

    *inside, outside = lines(log)
    assert sorted(line["trace_id"] for line in inside) == ["a", "b"]
    assert {line["session_id"] for line in inside} == {"s"}
    assert not {"trace_id", "session_id"} & outside.keys()


def test_half_a_character_can_be_logged(log: Path) -> None:
    logging.getLogger("pails.x").info("half \ud83d and whole \ud83d\ude00")

    assert lines(log)[0]["message"] == "half \ufffd and whole 😀"


def test_libraries_that_log_bodies_are_quiet(log: Path) -> None:
    for name in ("pygls.protocol.json_rpc", "httpx", "httpcore.http11", "asyncio"):
        logging.getLogger(name).info("body")
        logging.getLogger(name).warning("trouble")

    assert [line["message"] for line in lines(log)] == ["trouble"] * 4


def test_every_file_is_private_also_after_rotation(tmp_path: Path) -> None:
    path = tmp_path / "pails.jsonl"
    path.write_text("old")
    path.chmod(0o644)
    handler = PrivateFileHandler(path)
    handler.doRollover()
    handler.close()

    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["pails.jsonl", "pails.jsonl.1"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_long_log_is_rotated_and_old_files_go(log: Path) -> None:
    handler = file_handler()
    handler.maxBytes = 1000
    for number in range(100):
        logging.getLogger("pails.x").info("line %d", number)

    assert sorted(file.name for file in log.parent.iterdir()) == [
        "pails.jsonl",
        "pails.jsonl.1",
        "pails.jsonl.2",
        "pails.jsonl.3",
    ]
    assert all(file.stat().st_size <= 1000 for file in log.parent.iterdir())
    assert lines(log)[-1]["message"] == "line 99"


def test_configuring_again_moves_the_log(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    telemetry.configure(other, "INFO")
    logging.getLogger("pails.x").info("hello")

    assert lines(log) == []
    assert len(lines(other / "pails.jsonl")) == 1


def test_a_log_that_cannot_be_written_is_a_warning_and_goes_to_standard_error(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (warning,) = telemetry.configure(tmp_path / "absent", "INFO")
    logging.getLogger("pails.x").info("still here")

    assert "cannot be written" in warning
    assert "still here" in capsys.readouterr().err


def test_a_disk_that_is_full_is_said_once_and_harms_nobody(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    handler = file_handler()
    full = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115 - the handler closes it
    replaced = handler.setStream(full)
    assert replaced
    replaced.close()
    for number in range(3):
        logging.getLogger("pails.x").info("line %d", number)
    telemetry.close()

    said = capfd.readouterr().err
    assert said == f"pails: the log {log} cannot be written: No space left on device\n"
    assert full.closed


def test_a_record_that_is_wrong_itself_is_still_told_with_its_place(
    log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ("no number",)
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "%d", arguments, None)
    file_handler().handle(record)

    assert "Traceback" in capfd.readouterr().err
