"""Everything is declared in pyproject.toml, but the helpers that may be missing.

They are plain shared libraries (ctypes loads them), so one build serves every Python.
Without a compiler Python copies small files, and simulates flash.
"""

from setuptools import Extension, setup


def helper(name):
    return Extension(
        name,
        sources=[name.replace(".", "/") + ".c"],
        extra_compile_args=["-O2"],
        optional=True,
    )


NAMES = ("pegasus_bb.staging._small", "pegasus_bb.simulation.flash._flash")
setup(ext_modules=[helper(name) for name in NAMES])
