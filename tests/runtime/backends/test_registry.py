"""Backends by name, from an explicit table."""

from __future__ import annotations

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.backends.datawarp import DataWarp
from pegasus_bb.runtime.backends.folder_tier import Directory


def test_each_name_opens_its_backend() -> None:
    assert isinstance(open_backend("directory", {"path": "/bb"}), Directory)
    assert isinstance(open_backend("datawarp", {}), DataWarp)


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'rabbit'; there are datawarp, directory"):
        open_backend("rabbit", {})


def test_a_key_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(UsageError, match=r"3\.5TB"):
        open_backend("directory", {"path": "/bb", "quota": "3.5TB"})
