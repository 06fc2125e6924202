from spack.package import *


class PyPegasusBb(PythonPackage):
    """Burst buffers for Pegasus workflows, with no change to any task."""

    # Nothing is published yet: spack install py-pegasus-bb@develop, with a mirror or
    # `spack dev-build` in a checkout.
    homepage = "https://pegasus.isi.edu"

    license("Apache-2.0")

    version("develop")
    version("0.1.0")

    variant("pages", default=False, description="Figures in HTML pages")
    variant("darshan", default=False, description="Read Darshan logs")

    depends_on("c", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-setuptools@70.1:", type="build")

    depends_on("py-blake3@1.0:", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-defusedxml@0.7:", type=("build", "run"))
    depends_on("py-htcondor@25:", type=("build", "run"))
    depends_on("py-javaproperties@0.8:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-orjson@3.9:", type=("build", "run"))
    depends_on("py-pyyaml@6.0:", type=("build", "run"))
    depends_on("py-rich@13.0:", type=("build", "run"))
    depends_on("py-ryaml@0.4:", type=("build", "run"))
    depends_on("py-altair@5.5:", when="+pages", type=("build", "run"))
    depends_on("py-vl-convert-python@1.7:", when="+pages", type=("build", "run"))
    depends_on("py-darshan@3.4.4:", when="+darshan", type=("build", "run"))
