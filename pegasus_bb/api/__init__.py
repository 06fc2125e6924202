"""What commands do, for a program or a notebook; `pegasus_bb` exports it."""
