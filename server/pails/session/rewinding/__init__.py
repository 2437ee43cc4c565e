"""Taking back what turns did: snapshots around them, the plan of a rewind, and its steps."""
