"""What goes to the model: the frozen prompt, attachments, and how large texts are cut."""
