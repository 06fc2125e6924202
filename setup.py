"""Everything is declared in pyproject.toml, but the helper that may be missing.

It is a plain shared library (ctypes loads it), so one build serves every Python; where
there is no compiler, small files are copied by Python instead.
"""

from setuptools import Extension, setup

HELPER = Extension(
    "pegasus_bb.staging._small",
    sources=["pegasus_bb/staging/_small.c"],
    extra_compile_args=["-O2"],
    optional=True,
)

setup(ext_modules=[HELPER])
