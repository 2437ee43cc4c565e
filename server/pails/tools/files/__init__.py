"""The files that tools read and write, on the disk and in open buffers alike."""
