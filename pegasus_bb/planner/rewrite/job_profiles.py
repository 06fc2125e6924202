"""What each job of a site has for a pegasus profile, by the precedence of profiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    ProfileSetting,
    profile_settings,
)
from pegasus_bb.planner.rewrite.site_directives import (
    properties_with_option,
    with_option,
)


class JobProfiles:
    """The pegasus profile ``key`` of each job, by the precedence of profiles."""

    def __init__(self, inputs: Inputs, site: str, key: str) -> None:
        self.key = key
        self._properties = inputs.properties
        self._property = f"pegasus.{key}"
        self._of_jobs: dict[int, ProfileSetting] = {}
        self._of_programs: dict[str, ProfileSetting] = {}
        self._site: ProfileSetting | None = None
        for each in profile_settings(inputs, key, site):
            place = int(each.keys[1])
            if each.part == "sites":
                self._site = each
            elif each.part == "workflow":
                self._of_jobs[place] = each
            else:
                self._add_program(inputs.programs[place], each, site)

    def _add_program(self, entry: Any, setting: ProfileSetting, site: str) -> None:
        is_of_site = len(setting.keys) > 5
        if is_of_site and entry["sites"][int(setting.keys[3])].get("name") != site:
            return
        if is_of_site or _name_of(entry) not in self._of_programs:
            self._of_programs[_name_of(entry)] = setting

    def setting(self, index: int, job: Any) -> ProfileSetting | None:
        """That of the job, its program, or its site; None if none of them has it."""
        setting = self._of_jobs.get(index) or self._of_programs.get(_name_of(job))
        return setting or self._site

    @property
    def of_all(self) -> str | None:
        """The value of the property."""
        return self._properties.get(self._property)

    def joined(
        self, index: int, job: Any, option: str, join: Callable[[str, str], str]
    ) -> str:
        """What ``join`` makes of the job's value and ``option``. A UsageError of it
        becomes a CatalogError with the place of that value."""
        setting = self.setting(index, job)
        value = setting.value if setting else self.of_all or ""
        try:
            return join(value, option)
        except UsageError as error:
            would_do = "other arguments, or --bb-mode off"
            if setting is None:
                properties = self._properties
                raise properties.error(self._property, str(error), would_do) from error
            raise setting.error(str(error), would_do) from error

    def with_option(self, index: int, job: Any, option: str) -> str:
        """The batch arguments of the job, and ``option``. Raises CatalogError."""
        setting = self.setting(index, job)
        if setting is not None:
            return with_option(setting, option)
        of_all = properties_with_option(self._properties, option)
        return of_all.get(self._property, option)


def _name_of(entry: Any) -> str:
    parts = (entry.get("namespace"), entry.get("name"), entry.get("version"))
    return "\0".join(str(part or "") for part in parts)
