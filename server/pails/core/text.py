"""Small rules about text that every border shares."""


def join_surrogates(text: str) -> str:
    """The same text, encodable: paired surrogates become one character, lone ones U+FFFD.

    JSON escapes such as `\\ud83d` can put half a character into a string, which no log, hash or
    request body can encode. Text from outside passes here once, at the border.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
