"""Models behind the chat-completions protocol: where they are, and how to talk to one."""
