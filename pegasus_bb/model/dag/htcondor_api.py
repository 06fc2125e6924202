"""What HTCondor's Python library does for us: it reads submit files, for one.

This is the only place that imports htcondor2, so that it never looks for a pool.
Without CONDOR_CONFIG the library searches for a configuration and complains if there
is none. The variable is restored, so that child processes see what the user set.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.dag.quoting import (
    environment_of,
    split_arguments,
    split_environment,
    split_words,
)

# Macros that HTCondor sets at submission; the job has no number yet.
_DEFAULTS = {"cluster": "1", "clusterid": "1", "process": "0", "procid": "0"}


@cache
def htcondor2() -> ModuleType:
    """Load it where it is needed first: it takes as long as all else of `ls`."""
    before = os.environ.get("CONDOR_CONFIG")
    os.environ["CONDOR_CONFIG"] = os.devnull
    try:
        return importlib.import_module("htcondor2")
    finally:
        if before is None:
            del os.environ["CONDOR_CONFIG"]
        else:
            os.environ["CONDOR_CONFIG"] = before


@dataclass(slots=True)
class SubmitFile:
    """One job as a submit file describes it, with all macros expanded.

    Paths are as written: ``executable`` counts from the folder of submission,
    ``input``, ``output`` and ``error`` from ``initialdir``. The job itself starts in
    ``remote_initialdir`` where that is given.
    """

    executable: str
    arguments: list[str]
    environment: dict[str, str]
    input: str = ""
    output: str = ""
    error: str = ""
    initialdir: str = ""
    universe: str = "vanilla"
    remote_initialdir: str = ""
    attributes: dict[str, str] = field(default_factory=dict)  # +name, quotes taken off
    transfer_input_files: str = ""  # paths from ``initialdir``, with commas between
    transfer_output_files: str = ""  # the same, from the folder where the job starts
    preserve_relative_paths: bool = False  # else files arrive under their last names


def read_submit(path: Path, variables: Mapping[str, str]) -> SubmitFile:
    """The job in ``path``, with the macros of a node's VARS set to ``variables``.

    The environment includes +remote_environment, which glite sites read.
    Raises CatalogError if the file cannot be read as one job.
    """
    try:
        text = path.read_text(encoding="utf-8")
        submit = htcondor2().Submit(text)
        for name, value in (_DEFAULTS | dict(variables)).items():
            submit["MY." + name[1:] if name.startswith("+") else name] = value
        return _job(submit)
    except OSError as error:
        raise CatalogError(f"cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise CatalogError("is not UTF-8 text", str(path)) from error
    except (UsageError, ValueError, htcondor2().HTCondorException) as error:
        raise CatalogError(
            "cannot be read as a submit file", str(path), found=str(error)
        ) from error


def _job(submit: Any) -> SubmitFile:
    keys = {key.lower(): key for key in submit}

    def value(name: str) -> str:
        try:
            return str(submit.expand(keys[name])).strip()
        except KeyError:  # not set, or set to nothing
            return ""

    count = (submit.getQArgs() or "1").strip()
    if count not in ("", "1"):
        raise UsageError(f"queue {count}: one job to a submit file is what runs here")
    if not value("executable"):
        raise UsageError("it names no executable")
    attributes = {
        key[3:]: _unquoted(value(name))
        for name, key in keys.items()
        if name.startswith("my.")
    }
    environment = split_environment(value("environment"))
    remote = {name.lower(): text for name, text in attributes.items()}
    environment.update(
        environment_of(split_words(remote.get("remote_environment", "")))
    )
    return SubmitFile(
        value("executable"),
        split_arguments(value("arguments")),
        environment,
        value("input"),
        value("output"),
        value("error"),
        value("initialdir"),
        value("universe").lower() or "vanilla",
        value("remote_initialdir"),
        attributes,
        value("transfer_input_files"),
        _unquoted(value("transfer_output_files")),
        value("preserve_relative_paths").lower() == "true",
    )


def _unquoted(text: str) -> str:
    """A ClassAd string without its quotes; any other expression unchanged."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
