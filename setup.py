"""Everything is declared in pyproject.toml; this file serves tools that want it."""

from setuptools import setup

setup()
