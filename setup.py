"""Everything is declared in pyproject.toml, but the helper that may be missing.

It is a plain shared library (ctypes loads it), so one wheel serves every Python 3.
Where there is no compiler, small files are copied by Python instead. With
PEGASUS_BB_PURE=1 a wheel is built without it, for any machine.
"""

import os

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

HELPER = Extension(
    "pegasus_bb.staging._small",
    sources=["pegasus_bb/staging/_small.c"],
    extra_compile_args=["-O2"],
    optional=True,
)


class AnyPython(bdist_wheel):
    """Names the wheel after its platform alone."""

    def get_tag(self) -> tuple[str, str, str]:
        """(Python, ABI, platform) of the wheel's name."""
        return "py3", "none", super().get_tag()[2]


pure = os.environ.get("PEGASUS_BB_PURE") == "1"
setup(ext_modules=[] if pure else [HELPER], cmdclass={"bdist_wheel": AnyPython})
