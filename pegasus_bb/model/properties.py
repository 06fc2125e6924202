"""pegasus.properties and -D: found and layered as pegasus-plan does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from javaproperties import KeyValue, join_key_value, parse

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.files import is_file


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
        """Where ``key`` was said, for a person; empty if it was not."""
        setting = self._settings.get(key)
        if setting is None:
            return ""
        return f"{setting.origin}:{setting.line}" if setting.line else setting.origin

    def error(self, key: str, what: str, would_do: str = "") -> CatalogError:
        """An error about the property ``key``, with the place where it was said."""
        setting = self._settings[key]
        return CatalogError(
            what,
            file=setting.origin,
            line=setting.line,
            key=key,
            found=setting.value,
            would_do=would_do,
        )

    def to_text(self) -> str:
        """All properties in their order as a properties file, in ASCII."""
        lines = (join_key_value(key, value) for key, value in self.items())
        return "".join(f"{line}\n" for line in lines)


def read_properties(
    conf: Path | None, defines: Sequence[str], cwd: Path, home: Path
) -> Properties:
    """``--conf``, or ./pegasus.properties, or ~/.pegasusrc; then each ``-D``.

    Raises UsageError and CatalogError.
    """
    candidates = [conf] if conf else [cwd / "pegasus.properties", home / ".pegasusrc"]
    file = next((each for each in candidates if each == conf or is_file(each)), None)
    settings = _read(file) if file else {}
    for define in defines:
        key, equals, value = define.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-D{define}: write -Dkey=value")
        settings[key.strip()] = Setting(value.strip(), "-D")
    return Properties(settings)


def _read(file: Path) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    line = 1
    try:
        for part in parse(file.read_text(encoding="utf-8")):
            if isinstance(part, KeyValue):
                settings[part.key] = Setting(part.value.strip(), str(file), line)
            line += part.source.count("\n")
    except OSError as error:
        raise CatalogError(
            f"cannot be read: {error.strerror}", file=str(file)
        ) from error
    except ValueError as error:  # of its encoding, or of an escape
        raise CatalogError(f"is not a properties file: {error}", str(file)) from error
    return settings
