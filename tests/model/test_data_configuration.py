"""Where jobs work: the site's word, the properties', or Pegasus's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import load_inputs
from pegasus_bb.model.data_configuration import DataConfiguration, data_configuration
from pegasus_bb.model.settings import Properties, Setting


def configured(folder: Path, site: str = "", of_all: str = "") -> DataConfiguration:
    profile = f"pegasus: {{data.configuration: {site}}}" if site else ""
    (folder / "sites.yml").write_text(
        f"sites: [{{name: cluster, profiles: {{{profile}}}}}]\n"
    )
    (folder / "transformations.yml").write_text("transformations: []\n")
    (folder / "workflow.yml").write_text("name: w\n")
    key = "pegasus.data.configuration"
    properties = Properties({key: Setting(of_all, "conf", 3)} if of_all else {})
    _, catalogs = load_inputs(folder / "workflow.yml", properties, folder)
    return data_configuration(catalogs, catalogs.sites.site("cluster"))


@pytest.mark.parametrize(
    ("site", "of_all", "said", "private"),
    [
        ("", "", "condorio, the default of Pegasus", True),
        ("", "sharedfs", "sharedfs, conf:3", False),
        ("nonsharedfs", "sharedfs", "nonsharedfs, sites.yml", True),
        ("SharedFS", "condorio", "sharedfs, sites.yml", False),
    ],
)
def test_the_site_s_word_comes_before_the_properties(
    tmp_path: Path, site: str, of_all: str, said: str, private: bool
) -> None:
    found = configured(tmp_path, site, of_all)
    assert (str(found), found.is_private) == (said, private)


@pytest.mark.parametrize("words", [{"site": "share"}, {"of_all": "share"}])
def test_a_slip_is_named_with_its_place(tmp_path: Path, words: dict[str, str]) -> None:
    with pytest.raises(CatalogError, match="did you mean sharedfs") as error:
        configured(tmp_path, **words)
    assert error.value.key.endswith("data.configuration")
