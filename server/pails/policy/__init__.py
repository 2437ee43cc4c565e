"""Whether a call may run: one gate with four places, each of which can say no."""
