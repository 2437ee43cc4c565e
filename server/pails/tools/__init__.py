"""What the agent can do: the registry, the executor that every call passes, the built-in tools."""
