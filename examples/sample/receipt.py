"""A receipt in plain text."""

from cart import Cart

WIDTH = 32


def receipt(cart: Cart) -> str:
    """One line an item, then shipping and total."""
    lines = [_line(f"{item.quantity} × {item.name}", item.cost()) for item in cart.items]
    lines.append(_line("Shipping", cart.shipping()))
    lines.append(_line("Total", cart.total()))
    return "\n".join(lines)


def _line(label: str, cents: int) -> str:
    amount = f"{cents // 100}.{cents % 100:02d}"
    return label + amount.rjust(WIDTH - len(label))
