"""The operating system: files, processes, standard streams. Nothing else touches it."""
