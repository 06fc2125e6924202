"""Stories of a site with DataWarp, on one with burst_buffer/lua: the same promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.lua_site import ON_LUA
from testbed.tests.slurm_site import SlurmSite
from testbed.tests.test_site_gate import (  # noqa: F401
    full,
    test_a_controller_that_is_down_says_nothing_about_the_buffer,
    test_not_yet_while_others_have_the_space,
    test_ready_then_given_back,
)
from testbed.tests.test_site_leftovers import (  # noqa: F401
    test_one_with_unsaved_data_stays_and_the_run_goes_on,
)
from testbed.tests.test_site_polls import a_thousand_jobs_wait, calls  # noqa: F401

pytestmark = [pytest.mark.site, pytest.mark.sweep, ON_LUA]


def test_a_thousand_jobs_ask_no_more_than_one(
    submit_host: SlurmSite,
    home: Home,
    calls: Path,  # noqa: F811 - the fixture
) -> None:
    a_thousand_jobs_wait(submit_host, home, calls, "builtin")
