"""The flash device in C: a plain shared library, which ctypes loads.

Without a compiler Python simulates flash. With PEGASUS_BB_PURE=1 it is left out.
"""

import os

from setuptools import Extension, setup

_DEVICE = Extension(
    "pegasus_bb_lab.flash._flash",
    ["pegasus_bb_lab/flash/_flash.c"],
    extra_compile_args=["-O2"],
    optional=True,
)
setup(ext_modules=[] if os.environ.get("PEGASUS_BB_PURE") == "1" else [_DEVICE])
