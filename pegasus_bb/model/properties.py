"""pegasus.properties and -D: found and layered as pegasus-plan does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.files import is_file
from pegasus_bb.model.propertyfile import parse_properties


@dataclass(frozen=True)
class Setting:
    """One property and where it was said, for errors."""

    value: str
    origin: str  # a file name, or "-D"
    line: int = 0


class Properties(Mapping[str, str]):
    """Properties in the order in which they were said; later ones win."""

    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self._settings = dict(settings)

    def __getitem__(self, key: str) -> str:
        return self._settings[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._settings)

    def __len__(self) -> int:
        return len(self._settings)

    def with_values(self, values: Mapping[str, str], origin: str) -> Properties:
        """These properties with ``values`` laid over them."""
        added = {key: Setting(value, origin) for key, value in values.items()}
        return Properties({**self._settings, **added})

    def origin(self, key: str) -> str:
        """Where ``key`` was said, for a person; empty where it was not."""
        said = self._settings.get(key)
        if said is None:
            return ""
        return f"{said.origin}:{said.line}" if said.line else said.origin

    def error(self, key: str, what: str, would_do: str = "") -> CatalogError:
        """An error about the property ``key``, with the place where it was said."""
        said = self._settings[key]
        return CatalogError(
            what,
            file=said.origin,
            line=said.line,
            key=key,
            found=said.value,
            would_do=would_do,
        )


def read_properties(
    conf: Path | None, defines: Sequence[str], cwd: Path, home: Path
) -> Properties:
    """``--conf``, or ./pegasus.properties, or ~/.pegasusrc; then each ``-D``.

    Raises UsageError and CatalogError.
    """
    file = conf or _default_file(cwd, home)
    settings = _read(file) if file else {}
    for define in defines:
        key, equals, value = define.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-D{define}: write -Dkey=value")
        settings[key.strip()] = Setting(value.strip(), "-D")
    return Properties(settings)


def _default_file(cwd: Path, home: Path) -> Path | None:
    candidates = (cwd / "pegasus.properties", home / ".pegasusrc")
    return next((file for file in candidates if is_file(file)), None)


def _read(file: Path) -> dict[str, Setting]:
    try:
        text = file.read_text(encoding="utf-8")
        return {
            key: Setting(value.strip(), str(file), line)
            for line, key, value in parse_properties(text)
        }
    except OSError as error:
        raise CatalogError(
            f"cannot be read: {error.strerror}", file=str(file)
        ) from error
    except ValueError as error:  # of its encoding, or of an escape
        raise CatalogError(f"is not a properties file: {error}", str(file)) from error
