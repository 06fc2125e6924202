"""What pegasus_bb.files offers, under the name that runtime's programs use."""

from __future__ import annotations

from pegasus_bb.files import (
    append_all,
    append_json,
    create_text,
    read_journal,
    read_json,
    sync_directory,
    write_json,
    write_text,
)

__all__ = [
    "append_all",
    "append_json",
    "create_text",
    "read_journal",
    "read_json",
    "sync_directory",
    "write_json",
    "write_text",
]
