"""The placement file: the narrowest rule of all."""

from __future__ import annotations

import pytest

from pegasus_bb.core.errors import CatalogError
from tests.support.user_files import User


@pytest.mark.parametrize(
    "text",
    [
        "- {lfn: 'm*.txt', tier: pfs}\n- {lfn: in.txt, tier: pfs}\n",
        "m*.txt: pfs\nin.txt: pfs\n",
    ],
)
def test_patterns_are_a_list_or_a_mapping(user: User, text: str) -> None:
    user.placement = text
    homes = user.homes()
    assert (homes["mid.txt"], homes["in.txt"]) == (("pfs", "write"), ("pfs", "copy"))
    assert homes["keep.txt"] == ("bb", "write")
    assert user.placed("mid.txt").reason == "placement.yml says m*.txt: pfs"


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("'*.txt': bb\nmid.txt: pfs\n", "bb"),
        ("'*.txt': bb\n'm?d.*': pfs\n", "bb"),
        ("'[a-m]id.txt': pfs\n'*': bb\n", "pfs"),
    ],
)
def test_the_first_that_fits_wins(user: User, text: str, tier: str) -> None:
    user.placement = text
    assert user.placed("mid.txt").tier == tier


def refused(user: User, text: str) -> CatalogError:
    user.placement = text
    with pytest.raises(CatalogError) as error:
        user.decide()
    assert error.value.file.endswith("placement.yml")
    return error.value


@pytest.mark.parametrize(
    ("text", "line", "key", "found", "what"),
    [
        ("mid.txt: pfs\nchr1*: pfs\n", 2, "chr1*", "chr1*", "no file of"),
        ("- lfn: no.txt\n  tier: bb\n", 1, "0.lfn", "no.txt", "no file of"),
        ("mid.txt: bb\nout.txt: ssd\n", 2, "out.txt", "ssd", "one of bb, pfs, link"),
        ("out.txt: link\n", 1, "out.txt", "link", "only an input can be a link"),
    ],
)
def test_an_entry_that_cannot_be_is_refused_with_its_line(
    user: User, text: str, line: int, key: str, found: str, what: str
) -> None:
    error = refused(user, text)
    assert (error.line, error.key, error.found) == (line, key, found)
    assert what in str(error)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- mid.txt\n", "two keys, lfn and tier"),
        ("- {lfn: mid.txt, teir: bb}\n", "two keys, lfn and tier"),
        ("mid.txt: [bb]\n", "single values"),
        ("a: [\n", "is not YAML"),
    ],
)
def test_a_file_of_another_shape_is_refused(user: User, text: str, what: str) -> None:
    assert what in str(refused(user, text))
