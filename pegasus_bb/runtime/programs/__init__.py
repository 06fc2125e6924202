"""The programs that a .dag calls: a file each."""
