"""Makes copies durable: one syncfs for many files, fsync for a few.

syncfs waits for the writes of all programs to that file system, including those of
tasks on a compute node, so it pays only for many files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from pegasus_bb.core.refusals import sync_folder
from pegasus_bb.runtime.staging.durable import sync_file_system
from pegasus_bb.runtime.staging.items import Folder, Item
from pegasus_bb.runtime.staging.parts import part_of

FEW = 16  # files, or folders
Broken = dict[int, OSError]  # id of an item -> the error of its sync


def sync(named: list[Item], copied: list[Item], tag: str) -> Broken:
    """Make the names of ``named`` and the bytes of ``copied`` durable."""
    folders = list({id(item.dest): item.dest for item in named}.values())
    if len(folders) > FEW or len(copied) > FEW:
        return _together([*named, *copied])
    failed = {id(folder): error for folder, error in _folders(folders)}
    broken = {
        id(item): failed[id(item.dest)] for item in named if id(item.dest) in failed
    }
    for item in copied:
        try:
            _sync_part(item, tag)
        except FileNotFoundError:
            pass  # it was not copied; its answer has the reason
        except OSError as error:
            broken[id(item)] = error
    return broken


def _together(items: list[Item]) -> Broken:
    failed: dict[int, OSError] = {}  # by device
    for device, folder in {item.dest.device: item.dest for item in items}.items():
        try:
            sync_file_system(folder.fd)
        except OSError as error:
            failed[device] = error
    return {
        id(item): failed[item.dest.device]
        for item in items
        if item.dest.device in failed
    }


def _folders(folders: Iterable[Folder]) -> Iterable[tuple[Folder, OSError]]:
    for folder in folders:
        try:
            sync_folder(folder.fd)
        except OSError as error:
            yield folder, error


def _sync_part(item: Item, tag: str) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(part_of(item.as_name, tag), flags, dir_fd=item.dest.fd)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
