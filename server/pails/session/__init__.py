"""Sessions: the log, the state it replays to, the runs and the queue of prompts."""
