"""Snapshots of a workspace in a git store of our own, and taking back what the agent did."""
