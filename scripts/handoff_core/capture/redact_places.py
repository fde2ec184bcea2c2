r"""Finds the secrets that are known by their place (reliability.md 7.3): one function per place, one row per key word.

A new place is a function and a row of `PLACES`. A function looks at one hit of its key word in `Text.low` and yields
what it finds there; it looks at a bounded number of characters. Imports `redact_values` alone.
"""

from __future__ import annotations

import re

from handoff_core.capture.redact_values import (
    entropy,
    has_digit_and_letter,
    is_address,
    is_credential,
    is_lookalike,
    is_number,
    is_path,
    is_placeholder,
    is_readable,
    is_reference,
    is_varied,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from handoff_core.capture.redact_values import Span, Text

    Place: TypeAlias = Callable[[Text, int], Iterator[Span]]

_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789_.-"
_ASSIGNED = re.compile(
    rb"[\w.-]{0,64}+(?:\\{0,3}[\"'])?\]?[ \t]{0,20}+(=>|:=|={1,3}|:{1,2})[ \t]{0,20}+(\\{0,3}[\"'])?"
)
_SECRET_NAME = re.compile(rb"secret|token|credential|(?:api|access|private|signing|account)[_.-]?key")
_PASSWORD_NAME = re.compile(rb"password|passwd|passphrase|pwd|_pass\Z")
_NAME_OF_ANOTHER_THING = re.compile(
    rb"(?:password|passwd|passphrase|pwd|secret|token|credential|key)s?[_.-]?"
    rb"(?:hash|digest|checksum|fingerprint|sha\d|md5|file|path|dir|ur[il]|id|type|name|field|label|placeholder|"
    rb"regex|pattern|policy|hint|error|message|count|expir|izer)"
)


class Assignment:
    """A name around a key word, the operator behind it, and where the value begins.

    `quote` is what opens the value: `"`, `'`, either with backslashes before it, or nothing.
    """

    __slots__ = ("name", "name_start", "operator", "quote", "start")

    def __init__(self, name_start: int, name: bytes, found: re.Match[bytes]) -> None:
        self.name_start = name_start
        self.name = name
        self.operator = found[1]
        self.quote = found[2] or b""
        self.start = found.end()


def _assignment(text: Text, at: int) -> Assignment | None:
    """Return the assignment whose name holds the key word at `at`, if something is assigned there."""
    found = _ASSIGNED.match(text.raw, at)
    if found is None:
        return None
    before = text.low[max(0, at - 64) : at]
    name_start = at - len(before) + len(before.rstrip(_NAME_BYTES))
    name_end = found.start(1)
    return Assignment(name_start, text.low[name_start:name_end].rstrip(b"\\\"'] \t"), found)


def assigned_password(text: Text, at: int) -> Iterator[Span]:
    """Yield the value of a name that holds a word for password (rule `secret-assignment`, passwords)."""
    assignment = _assignment(text, at)
    if assignment is None or not _PASSWORD_NAME.search(assignment.name):
        return
    if _NAME_OF_ANOTHER_THING.search(assignment.name):
        return
    end = _password_end(text, assignment)
    value = text.value(assignment.start, end)
    if len(value) >= 8 and _is_password(value, quoted=bool(assignment.quote)):
        yield assignment.start, end, "secret-assignment"


_BARE_PASSWORD = re.compile(rb"[^\s\"'\\,;&<>{}`]{0,300}")
_QUOTED = {
    b'"': re.compile(rb'(?:[^"\\\r\n]|\\.){0,300}'),
    b"'": re.compile(rb"(?:[^'\\\r\n]|\\.){0,300}"),
    b'\\"': re.compile(rb'[^"\\\r\n]{0,300}'),
    b"\\'": re.compile(rb"[^'\\\r\n]{0,300}"),
}


def _password_end(text: Text, assignment: Assignment) -> int:
    """Return where the password that begins at the assignment's value ends."""
    if not assignment.quote:
        return _end(_BARE_PASSWORD, text, assignment.start)
    if not _opens(text, assignment):
        return assignment.start
    return _end(_QUOTED[assignment.quote[-2:]], text, assignment.start)


def _opens(text: Text, assignment: Assignment) -> bool:
    """Say whether the quote before a value opens it.

    In `ask("Password: ", user)` it closes the text that holds the name: then the name is not quoted itself, and the
    number of quotes before it on its line is odd.
    """
    quote = assignment.quote[-1:]
    if text.raw[assignment.start : assignment.start + 1] in (b" ", b",", b")", b"+", b";", b"\n"):
        return False
    name_start = assignment.name_start
    if text.raw[name_start - 1 : name_start] == quote:
        return True
    before = max(0, name_start - 300)
    line_start = max(before, text.raw.rfind(b"\n", before, name_start))
    if text.raw.count(quote, line_start, name_start) % 2 == 0:
        return True
    value = _QUOTED[assignment.quote[-2:]].match(text.raw, assignment.start)
    return value is not None and text.raw[value.end() : value.end() + 1] != b"" and b" " not in value[0]


def _end(pattern: re.Pattern[bytes], text: Text, start: int) -> int:
    found = pattern.match(text.raw, start)
    return start if found is None else found.end()


def _is_password(value: str, *, quoted: bool) -> bool:
    if is_path(value) or is_address(value) or is_reference(value) or is_placeholder(value):
        return False
    return quoted or _MORE_THAN_A_WORD.search(value.rstrip(".:!?)]")) is not None


_MORE_THAN_A_WORD = re.compile(r"[^A-Za-z_]")
"""An underscore makes no password: `password=user_password` names a variable."""


def named_secret(text: Text, at: int) -> Iterator[Span]:
    """Yield the value of a name that holds a word for a secret, by each rule for such names."""
    assignment = _assignment(text, at)
    if assignment is not None:
        yield from _aws_secret(text, assignment, at)
        yield from _api_key_header(text, assignment)
        yield from _query_secret(text, assignment)
        yield from _assigned_secret(text, assignment)


def query_secret(text: Text, at: int) -> Iterator[Span]:
    """Yield the value of a signature in the query of an address (rule `query-secret`)."""
    assignment = _assignment(text, at)
    if assignment is not None:
        yield from _query_secret(text, assignment)


def _assigned_secret(text: Text, assignment: Assignment) -> Iterator[Span]:
    """Yield the value of a name with secret, token, credential or a kind of key (rule `secret-assignment`, others)."""
    if not _names_a_secret(text, assignment):
        return
    if _NAME_OF_ANOTHER_THING.search(assignment.name):
        return
    found = _SECRET_VALUE.match(text.raw, assignment.start)
    if found is None:
        return
    value = text.value(found.start(), found.end())
    if not _is_secret(value):
        return
    if not assignment.quote and (text.raw[found.end() : found.end() + 1] in (b"(", b"[") or is_readable(value)):
        return
    yield found.start(), found.end(), "secret-assignment"


def _names_a_secret(text: Text, assignment: Assignment) -> bool:
    """Say whether the name is one of a secret; `API key` with a blank is one too."""
    if _SECRET_NAME.search(assignment.name):
        return True
    before = text.low[max(0, assignment.name_start - 8) : assignment.name_start]
    return assignment.name.startswith(b"key") and before.endswith(_KINDS_OF_KEY)


_KINDS_OF_KEY = (b"api ", b"access ", b"private ", b"signing ", b"account ")
_SECRET_VALUE = re.compile(rb"(?=[A-Za-z_./+=~:%-]{0,300}+\d)[\w./+=~:%-]{10,300}")


def _is_secret(value: str) -> bool:
    return (
        has_digit_and_letter(value)
        and entropy(value) >= 3.5
        and not is_placeholder(value)
        and not is_reference(value)
        and not is_lookalike(value)
        and not is_path(value)
        and not is_address(value)
        and not is_number(value)
    )


def _aws_secret(text: Text, assignment: Assignment, at: int) -> Iterator[Span]:
    """Yield 40 base64 characters after a name with `aws` and then secret, key or token (rule `aws-secret-key`)."""
    if b"aws" not in text.low[max(assignment.name_start - 20, at - 64, 0) : at]:
        return
    found = _AWS_SECRET.match(text.raw, assignment.start)
    if found is not None and is_varied(text.value(found.start(), found.end())):
        yield found.start(), found.end(), "aws-secret-key"


_AWS_SECRET = re.compile(rb"[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+=])")


def _api_key_header(text: Text, assignment: Assignment) -> Iterator[Span]:
    """Yield the credential after `X-Api-Key:` or `Api-Key:` (rule `api-key-header`)."""
    if assignment.operator == b":" and assignment.name.endswith(b"api-key"):
        yield from _credential(text, assignment.start, "api-key-header")


def _credential(text: Text, start: int, rule: str) -> Iterator[Span]:
    found = _WORD.match(text.raw, start)
    if found is not None and is_credential(text.value(start, found.end())):
        yield start, found.end(), rule


_WORD = re.compile(rb"[^\s\"'`\\,;<>(){}\[\]]{16,300}")


def _query_secret(text: Text, assignment: Assignment) -> Iterator[Span]:
    """Yield the value of a secret's name in the query of an address (rule `query-secret`)."""
    if assignment.operator != b"=" or assignment.name not in _QUERY_NAMES:
        return
    if text.raw[assignment.name_start - 1 : assignment.name_start] not in (b"?", b"&", b";", b"#"):
        return
    found = _QUERY_VALUE.match(text.raw, assignment.start)
    if found is None:
        return
    value = text.value(found.start(), found.end())
    if not is_placeholder(value) and not is_reference(value):
        yield found.start(), found.end(), "query-secret"


_QUERY_NAMES = frozenset(
    b"access_token id_token refresh_token auth_token api_key apikey client_secret sig signature x-amz-signature "
    b"x-goog-signature".split()
)
_QUERY_VALUE = re.compile(rb"[^&#\s\"'<>\\()\[\]{};,`]{16,300}")


def auth_header(text: Text, at: int) -> Iterator[Span]:
    """Yield the credential after the word Bearer, Basic or token (rule `auth-header`).

    Prose uses the last two words as well (`the token claude-opus-4`), so words and short numbers behind them are a
    credential only in a header.
    """
    found = _SCHEME.match(text.low, at)
    if found is None or not _is_edge(text.raw, at):
        return
    for span in _credential(text, found.end(), "auth-header"):
        in_header = found[1] == b"bearer" or b"authorization" in text.low[max(0, at - 30) : at]
        if in_header or not is_readable(text.value(span[0], span[1])):
            yield span


_SCHEME = re.compile(rb"(bearer|basic|token)(?:[ \t]{1,4}|%20|\+)")


def _is_edge(raw: bytes, at: int) -> bool:
    r"""Say whether no word character stands before `at`; the letter of an escape such as `\n` is none."""
    return _EDGE.search(raw, max(0, at - 3), at) is not None


_EDGE = re.compile(rb"(?:\W|\\[nrtbf]|%[0-9A-Fa-f]{2})\Z")


def cookie(text: Text, at: int) -> Iterator[Span]:
    """Yield the credentials among the session cookies of a `Cookie:` or `Set-Cookie:` line (rule `cookie`)."""
    found = _COOKIE.match(text.low, at)
    for _ in range(100):
        if found is None:
            return
        found = _COOKIE_PAIR.match(text.raw, found.end())
        if found is not None and _COOKIE_NAME.search(found[1].lower()):
            yield from _cookie_value(text, found)


def _cookie_value(text: Text, pair: re.Match[bytes]) -> Iterator[Span]:
    if is_credential(text.value(pair.start(2), pair.end(2))):
        yield pair.start(2), pair.end(2), "cookie"


_COOKIE = re.compile(rb"cookie(?:\\{0,3}[\"'])?[ \t]{0,4}:[ \t]{0,4}(?:\\{0,3}[\"'])?")
_COOKIE_PAIR = re.compile(rb"[ \t;]{0,8}([^=;:,\s\"'\\]{1,100})(?:=([^;\s\"'\\,]{0,300}))?")
_COOKIE_NAME = re.compile(rb"session|sid|auth|token")


def address(text: Text, at: int) -> Iterator[Span]:
    """Yield a password in an address, or the whole address of a webhook (`url-password`, `…-webhook…`)."""
    found = _USER_INFO.match(text.raw, at)
    if found is not None and text.raw[at - 1 : at].isalnum():
        if not is_placeholder(text.value(found.start(1), found.end(1))):
            yield found.start(1), found.end(1), "url-password"
        return
    for pattern, rule in _WEBHOOKS:
        found = pattern.match(text.raw, at)
        if found is not None and text.low[at - 5 : at] == b"https" and is_varied(text.value(at, found.end())):
            yield at - 5, found.end(), rule


_USER_INFO = re.compile(rb"://[^\s/:@\"'<>]{0,100}:([^\s/\"'<>]{3,256})@")
_WEBHOOKS = (
    (re.compile(rb"://hooks\.slack\.com/(?:services|workflows|triggers)/[\w+/=-]{40,60}"), "slack-webhook-url"),
    (
        re.compile(rb"://(?:\w{1,10}\.)?discord(?:app)?\.com/api/webhooks/\d{15,20}/[\w-]{60,80}"),
        "discord-webhook",
    ),
)


def curl_user(text: Text, at: int) -> Iterator[Span]:
    """Yield the password of `-u user:…` or `--user user:…` (rule `curl-auth-user`).

    Other programs take a user and a group in this form, so away from the word curl it needs a digit or a sign and
    more than digits.
    """
    found = _USER_OPTION.match(text.raw, at) if _OPTION_EDGE.match(text.raw, at - 2) else None
    if found is None:
        return
    value = text.value(found.start(1), found.end(1))
    if is_placeholder(value) or is_reference(value) or is_path(value):
        return
    if b"curl" in text.low[max(0, at - 300) : at] or _MIXED.search(value):
        yield found.start(1), found.end(1), "curl-auth-user"


_USER_OPTION = re.compile(rb"-u(?:ser)?[ =]{0,3}(?:\\{0,3}[\"'])?[^\s:\"'/\\=]{1,100}:([^\s\"'\\]{4,256})")
_OPTION_EDGE = re.compile(rb".[\s\"'`(,]|[\s\"'`(,]-|\\[nrt]", re.DOTALL)
_MIXED = re.compile(r"[A-Za-z].*[^A-Za-z_]|[^A-Za-z_].*[A-Za-z]")


def login_password(text: Text, at: int) -> Iterator[Span]:
    """Yield the password of a `login … password X` line (rule `netrc`)."""
    found = _NETRC.match(text.raw, at)
    if found is None:
        return
    before = _NETRC_LOGIN.search(text.low, max(0, at - 300), at)
    if before is None:
        return
    value = text.value(found.start(1), found.end(1))
    machine = b"machine" in text.low[max(0, at - 500) : at] or b"default" in text.low[max(0, before.start() - 20) : at]
    if not is_placeholder(value) and not is_reference(value) and (machine or _MIXED.search(value)):
        yield found.start(1), found.end(1), "netrc"


_NETRC = re.compile(rb"(?i:password)(?:\s|\\[nt]){1,20}([^\s\"'\\<>{}]{4,256})")
_NETRC_LOGIN = re.compile(rb"login(?:\s|\\[nt]){1,20}[^\s\\]{1,100}(?:\s|\\[nt]){1,20}\Z")


def command_password(text: Text, at: int) -> Iterator[Span]:
    """Yield a password given to a program as an option or in `PGPASSWORD` (rule `cli-password`)."""
    for pattern in _OPTIONS:
        found = pattern.match(text.raw, at)
        if found is None:
            continue
        group = found.lastgroup or ""
        value = text.value(*found.span(group))
        if is_placeholder(value) or is_reference(value) or is_path(value):
            return
        if group == "sure" or _MORE_THAN_A_WORD.search(value):
            yield *found.span(group), "cli-password"
        return


_OPTIONS = (
    re.compile(rb"(?<=ssh)pass[ \t]{1,4}-p[ \t]{0,4}(?:\\{0,3}[\"'])?(?P<sure>[^\s\"'\\;|&<>]{4,256})"),
    re.compile(rb"(?<=[Pp][Gg])(?i:password)=(?:\\{0,3}[\"'])?(?P<likely>[^\s\"'\\;|&<>]{4,256})"),
    re.compile(rb"(?<=--)password[ \t]{1,4}(?:\\{0,3}[\"'])?(?P<likely>[^\s\"'\\;|&<>-][^\s\"'\\;|&<>]{7,256})"),
    re.compile(
        rb"(?:mysql|mariadb)(?:admin|dump|import|show|-admin|-dump)?(?=[ \t])[^\r\n|;&]{0,200}?"
        rb"[ \t]-p(?:\\{0,3}[\"'])?(?P<sure>[^\s\"'\\;|&<>]{6,256})"
    ),
)


def docker_auth(text: Text, at: int) -> Iterator[Span]:
    """Yield the base64 text of `"auth": "…"` (rule `docker-config`)."""
    found = _DOCKER_AUTH.match(text.raw, at)
    if found is None or text.raw[at - 1 : at] != b'"':
        return
    value = text.value(found.start(1), found.end(1))
    if is_varied(value) and not is_placeholder(value) and (has_digit_and_letter(value) or value.endswith("=")):
        yield found.start(1), found.end(1), "docker-config"


_DOCKER_AUTH = re.compile(rb'auth\\{0,3}"\s{0,20}:\s{0,20}\\{0,3}"([0-9A-Za-z+/]{16,2000}={0,2})\\{0,3}"')


def otpauth(text: Text, at: int) -> Iterator[Span]:
    """Yield the secret of an `otpauth://` address (rule `otpauth`)."""
    found = _OTP_SECRET.match(text.raw, at)
    if found is None:
        return
    before = text.low[max(0, at - 300) : at]
    begin = before.rfind(b"otpauth://")
    if begin >= 0 and len(before[begin:].split()) == 1:
        yield found.start(1), found.end(1), "otpauth"


_OTP_SECRET = re.compile(rb"(?i:secret)=([A-Za-z2-7]{16,256})")


def storage_key(text: Text, at: int) -> Iterator[Span]:
    """Yield the key of an `AccountKey=` (rule `azure-storage-key`)."""
    found = _STORAGE_KEY.match(text.raw, at)
    if found is not None and text.raw[at - 7 : at] == b"Account":
        yield found.start(1), found.end(1), "azure-storage-key"


_STORAGE_KEY = re.compile(rb"Key=([0-9A-Za-z+/]{86}==)")


def private_key(text: Text, at: int) -> Iterator[Span]:
    """Yield a private key from its BEGIN to its END or to the end of the text (rule `private-key`)."""
    if text.raw[at - 8 : at + 3] != b"PRIVATE KEY":
        return
    begin = text.raw.rfind(b"-----BEGIN", max(0, at - 60), at)
    found = _KEY_HEADER.match(text.raw, begin) if begin >= 0 else None
    if found is None or not _KEY_BODY.match(text.raw, found.end()):
        return
    end = _KEY_END.search(text.raw, found.end())
    yield begin, len(text.raw) if end is None else end.end(), "private-key"


_KEY_HEADER = re.compile(rb"-----BEGIN[ 0-9A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----[ \t]{0,4}(?=[\r\n]|\\+[rn]|\Z)")
_KEY_BODY = re.compile(
    rb"(?:[ \t]{0,4}(?:\r?\n|\\{1,3}r|\\{1,3}n)[^A-Za-z\r\n\\]{0,16}(?:[A-Za-z-]{3,20}: [^\r\n\\]{0,100})?){1,8}"
    rb"[0-9A-Za-z+/=]{16}"
)
_KEY_END = re.compile(rb"-----END[ 0-9A-Z]{0,40}PRIVATE KEY(?: BLOCK)?-----")

PLACES: tuple[tuple[bytes, tuple[Place, ...]], ...] = (
    (b"key", (private_key, storage_key, named_secret)),
    (b"token", (auth_header, named_secret)),
    (b"secret", (otpauth, named_secret)),
    (b"credential", (named_secret,)),
    (b"pass", (command_password, login_password, assigned_password)),
    (b"pwd", (assigned_password,)),
    (b"bearer", (auth_header,)),
    (b"basic", (auth_header,)),
    (b"cookie", (cookie,)),
    (b"://", (address,)),
    (b"auth", (docker_auth,)),
    (b"-u", (curl_user,)),
    (b"sig=", (query_secret,)),
    (b"signature=", (query_secret,)),
    (b"mysql", (command_password,)),
    (b"mariadb", (command_password,)),
)
"""Key words, in lower case, and what is looked for where one of them stands."""
