"""The loop that turns a prompt into replies and tool calls."""
