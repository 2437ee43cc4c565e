"""Whether a call may run: one gate with four defences, each of which can say no."""
