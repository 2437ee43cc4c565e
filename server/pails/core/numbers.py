"""How numbers read in a sentence."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """So many things: `1 file`, `2,000 files`. `plural` where it is not the noun with an s."""
    return f"1 {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def shown_size(size: int) -> str:
    """A size in bytes as people read it: `12.3 KB`."""
    amount = float(size)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
