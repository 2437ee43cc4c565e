"""A shopping cart. Prices are whole cents, so that no sum is off by a rounding error."""

from dataclasses import dataclass, field

SHIPPING = 490
FREE_SHIPPING_FROM = 50_00


@dataclass(frozen=True)
class Item:
    """Something to buy, once or several times."""

    name: str
    price: int
    quantity: int = 1

    def cost(self) -> int:
        return self.price * self.quantity


@dataclass
class Cart:
    """What a customer is about to buy."""

    items: list[Item] = field(default_factory=list)

    def add(self, name: str, price: int, quantity: int = 1) -> None:
        if price < 0 or quantity < 1:
            raise ValueError(f"{name}: a price is at least 0 and a quantity at least 1")
        self.items.append(Item(name, price, quantity))

    def subtotal(self) -> int:
        return sum(item.cost() for item in self.items)

    def shipping(self) -> int:
        """Orders of FREE_SHIPPING_FROM and more are sent free of charge."""
        return 0 if self.subtotal() > FREE_SHIPPING_FROM else SHIPPING

    def total(self) -> int:
        return self.subtotal() + self.shipping()
