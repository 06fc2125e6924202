"""Tests that only root can do."""

from __future__ import annotations

import os

import pytest

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root acts as other users")
