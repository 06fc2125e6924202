"""What the demo says of its two places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

MOUNTS = """\
overlay / overlay rw 0 0
/dev/sda1 /home ext4 rw 0 0
tmpfs /dev/shm tmpfs rw 0 0
/dev/sdb /mnt/with\\040space xfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/dev/shm/pegasus-bb-demo-0-x", "tmpfs (memory)"),
        ("/home/me/demo", "ext4 on /dev/sda1"),
        ("/homes/me", "overlay"),
        ("/mnt/with space/x", "xfs on /dev/sdb"),
    ],
)
def test_a_folder_has_the_file_system_of_the_nearest_mount(
    demo: Any, tmp_path: Path, folder: str, words: str
) -> None:
    import demo_places

    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert demo_places.file_system(Path(folder), mounts) == words


def test_a_place_is_described_by_what_was_measured_there(demo: Any) -> None:
    import demo_places

    speeds = {"job_write": "1500MB/s", "job_read": "900MB/s"}
    found = demo_places.Place("/dev/shm/x", "tmpfs (memory)", speeds)
    assert found.described("bb") == (
        "Burst buffer: /dev/shm/x, tmpfs (memory). One process wrote 1.4 GiB/s and "
        "read 858.3 MiB/s there before the runs, through the page cache."
    )
