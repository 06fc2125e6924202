"""Everything is declared in pyproject.toml, but the helpers that may be missing.

They are plain shared libraries (ctypes loads them), so one wheel serves every Python 3.
Without a compiler Python copies small files. With
PEGASUS_BB_PURE=1 a wheel is built without them, for any machine.
"""

import os

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

HELPERS = ("pegasus_bb.runtime.staging._small",)


class AnyPython(bdist_wheel):
    """Names the wheel after its platform alone."""

    def get_tag(self) -> tuple[str, str, str]:
        """(Python, ABI, platform) of the wheel's name."""
        return "py3", "none", super().get_tag()[2]


def helper(name: str) -> Extension:
    """A library that is left out where it cannot be compiled."""
    source = name.replace(".", "/") + ".c"
    return Extension(name, [source], extra_compile_args=["-O2"], optional=True)


pure = os.environ.get("PEGASUS_BB_PURE") == "1"
setup(
    ext_modules=[] if pure else [helper(name) for name in HELPERS],
    cmdclass={"bdist_wheel": AnyPython},
)
