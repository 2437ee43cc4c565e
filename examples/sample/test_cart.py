"""Run with: python3 -m unittest -q"""

import unittest

from cart import Cart
from receipt import receipt


class CartTest(unittest.TestCase):
    def test_small_orders_pay_for_shipping(self) -> None:
        cart = Cart()
        cart.add("tea", 4_20, quantity=2)
        self.assertEqual(cart.total(), 8_40 + 4_90)

    def test_shipping_is_free_from_fifty(self) -> None:
        cart = Cart()
        cart.add("teapot", 50_00)
        self.assertEqual(cart.shipping(), 0)

    def test_a_price_is_never_negative(self) -> None:
        with self.assertRaises(ValueError):
            Cart().add("gift", -1)

    def test_the_receipt_lists_items_shipping_and_total(self) -> None:
        cart = Cart()
        cart.add("tea", 4_20, quantity=2)
        amounts = [line.split()[-1] for line in receipt(cart).splitlines()]
        self.assertEqual(amounts, ["8.40", "4.90", "13.30"])


if __name__ == "__main__":
    unittest.main()
