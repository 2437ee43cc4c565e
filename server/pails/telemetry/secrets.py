"""Takes secrets out of text before it reaches a log, a file or a person's screen.

Two kinds of rule. A *shape* is a secret wherever it stands: `sk-…`, a PEM block, a bearer header.
An *assignment* is one because of its name: `DB_PASSWORD=…`, `"apiKey": "…"`. The second kind must
leave ordinary text and code alone (`token: str`, `password=None`, "unexpected token: foo"), so an
unquoted value is judged by what it looks like. Being long and random is no reason: hashes,
signatures and blobs stay as they are.
"""

import re

MASK = "[masked]"

_SHAPE = re.compile(
    r"""
    -----BEGIN\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----
        (?s:.*?)(?:-----END\ [A-Z0-9\ ]{0,40}PRIVATE\ KEY(?:\ BLOCK)?-----|\Z)
    | (?<![A-Za-z0-9_-])(?:
        sk-[\w*-]{8,}                               # OpenAI, Anthropic and many after them
      | (?:sk|pk|key)[-_](?=[\w*-]{0,80}[0-9*])[\w*-]{16,}
      | (?:gsk|xai)[-_][\w*-]{16,}                  # Groq, xAI
      | (?:sk|rk|pk)_(?:live|test)_\w{8,}           # Stripe
      | gh[a-z]_[A-Za-z0-9]{16,} | github_pat_\w{20,}
      | glpat-[\w-]{16,}
      | xox[a-z]-[\w-]{8,} | xapp-[\w-]{8,}         # Slack
      | A[KS]IA[A-Z0-9]{16}                         # AWS
      | AIza[\w*-]{16,} | ya29\.[\w-]{20,}          # Google
      | hf_[A-Za-z0-9]{20,}
      | npm_[A-Za-z0-9]{30,}
      | pypi-[\w-]{32,}
      | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*          # JSON web token
    )
    """,
    re.VERBOSE | re.ASCII,
)

_IN_CONTEXT = (
    # Authorization: Basic …, also as a JSON or Python string
    re.compile(
        r"""(\bauthorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:[a-z]+\ +)?)[^\s"'\\,;]{4,}""",
        re.IGNORECASE | re.VERBOSE,
    ),
    # Bearer … as headers have it; in lower case it may be prose: "bearer authentication"
    re.compile(r"""(\bBearer +)(?:[^\s"'\\,;]|\\(?!["']))+"""),
    re.compile(r"(\bbearer\s+)(?=\S*[0-9]|\S{20})[\w.~+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(\b(?:set-)?cookie:[ \t]*)[^\r\n]+", re.IGNORECASE),
    # https://user:password@host
    re.compile(r"""(://[^\s/:@"']{0,100}:)[^\s/@"'$<{]{1,400}(?=@)"""),
    # https://token@host; names of users are shorter
    re.compile(r"""(://)[^\s/:@"'$<{]{16,400}(?=@)"""),
)

_ASSIGNMENT = re.compile(
    r"""
    (?<![\w.-])
    (?P<name>[\w.-]{0,60}?
        (?:(?P<strong>password|passwd|passphrase|secret|(?<=_)pass|(?<=_)pwd)
         |token|(?:api|access|secret|private|account|signing)-?key|(?<=_)key|credentials?))
    (?P<sign>\\?["']?[ \t]{0,4}[:=][ \t]{0,4})
    (?: (?P<quote>\\?["'])(?P<quoted>(?:(?!(?P=quote))(?:\\[^\r\n]|[^\\\r\n])){4,})(?=(?P=quote))
      | (?P<bare>[^\s"'\\,;&)\]}]+) )
    """,
    re.VERBOSE | re.IGNORECASE,
)

_NOT_A_VALUE = re.compile(
    r"""[$%<{(*] | \[(?:masked|redacted)
      | (?:str|string|bytes|int|bool|float|any|object|number|none|null|nil|undefined|true|false
          |optional|required|missing|self|cls|this|process|os|env|settings|config)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""How references, types and literals of code begin, and what was masked before."""


def mask(text: str, known: str = "") -> str:
    """The same text with `[masked]` for every secret; a `known` one may look like anything."""
    if known:
        text = text.replace(known, MASK)
    text = _SHAPE.sub(MASK, text)
    for pattern in _IN_CONTEXT:
        text = pattern.sub(rf"\1{MASK}", text)
    return _ASSIGNMENT.sub(_masked_assignment, text)


def _masked_assignment(match: re.Match[str]) -> str:
    before = match["name"] + match["sign"]
    if match["quoted"] is not None:
        secret = not _NOT_A_VALUE.match(match["quoted"])
        return before + match["quote"] + MASK if secret else match[0]
    return before + MASK if _is_secret(match) else match[0]


def _is_secret(match: re.Match[str]) -> bool:
    """Whether the unquoted value of an assignment is a secret rather than code or prose."""
    value, name = match["bare"], match["name"]
    if _NOT_A_VALUE.match(value) or value == name:
        return False
    strong = match["strong"] is not None
    if name.isupper() and match["sign"].strip() == "=":
        return strong or len(value) >= 8  # a variable of the environment
    if "(" in value or "[" in value:
        return False  # a call
    if any(character.isdigit() for character in value):
        return strong or len(value) >= 8
    return strong and _stands_alone(match)


def _stands_alone(match: re.Match[str]) -> bool:
    """Whether a value that is a mere word is a whole line's or a query's, not part of a sentence.

    `password=word` and a line `password: word` are settings; `f(password=word)` is code and
    "the password: word" is prose.
    """
    following = match.string[match.end() : match.end() + 1]
    if match["sign"] == "=":
        return following not in {")", ",", "]", "}"} and "." not in match["bare"]
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    alone = not match.string[line_start : match.start()].strip(" \t-")
    return alone and following in {"", "\r", "\n"} and match["bare"].islower()
