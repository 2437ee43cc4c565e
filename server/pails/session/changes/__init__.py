"""What turns changed: folded from the events, reviewed by hunk, and told to the model."""
