"""The syntax check after each write, by tree-sitter in a child process of its own."""
