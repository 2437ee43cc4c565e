"""The one path of every call, from what the model sends to what it is told."""
