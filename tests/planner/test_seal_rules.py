"""Each rule of the seal by itself: what it lets through, and all that it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.model.dag.nodes import Dag, Node, Script
from pegasus_bb.planner.seal import dag_rules
from pegasus_bb.planner.seal import sealing as product
from pegasus_bb.planner.seal.dag_rules import AFTER, BEFORE, Rule
from pegasus_bb.planner.seal.lives import removals
from pegasus_bb.planner.seal.sealing import check
from pegasus_bb.planner.seal.view import View
from tests.planner.sealing import seal

GATE = "/submit/bb/bin/gate"
CREATE = "create_dir_w_0_cori"
OUT = "stage_out_remote_cori_0_0"
LEAF = "cleanup_w_0_cori"
OWN = "cleanup_w_0_local"
EARLY = "clean_up_cori_level_3_0"
POST = Script("/submit/bb/bin/exitcode", "-r $RETURN x.out")


@dataclass
class Run:
    """What a rule looks at, to be spoiled."""

    dag: Dag
    users: set[str]
    removes: dict[str, set[str]]
    ours: bool = True

    def node(self, name: str, **changes: Any) -> None:
        self.dag.nodes[name] = replace(self.dag.nodes[name], **changes)

    def cut(self, parent: str, child: str) -> None:
        self.dag.children[parent].remove(child)

    def add(self, parent: str, child: str) -> None:
        self.dag.nodes.setdefault(child, Node(child, f"{child}.sub", post=POST))
        self.dag.children.setdefault(parent, []).append(child)

    def view(self) -> View:
        return View(self.dag, self.users, "cori", GATE, self.removes, self.ours)


def good() -> Run:
    """A sealed DAG: a task, its stage-out, a clean-up of its result, folders."""
    names = f"bb_setup_S {CREATE} task_1 {OUT} {EARLY} {LEAF} bb_delete_D {OWN}"
    children = {
        CREATE: ["task_1"],
        "task_1": [OUT],
        OUT: [EARLY],
        EARLY: [LEAF],
        "bb_delete_D": [OWN],
    }
    dag = Dag({n: Node(n, f"{n}.sub", post=POST) for n in names.split()}, children)
    users = {CREATE, "task_1", OUT, EARLY, LEAF}
    removes = {EARLY: {OUT}}
    return Run(seal(dag, users, "cori", GATE, 30, removes, True), users, removes)


Spoil = Callable[[Run], Any]


def also(name: str, **changes: Any) -> Spoil:
    return lambda run: run.node(name, **changes)


def theirs(spoil: Spoil) -> Spoil:
    """The same in a DAG of a real pegasus-plan."""

    def make(run: Run) -> None:
        run.ours = False
        spoil(run)

    return make


def clustered_setup(run: Run) -> None:
    run.dag.nodes["merge_bb_setup_PID1_ID1"] = run.dag.nodes.pop("bb_setup_S")


def exitcode(words: str) -> Script:
    return Script("/usr/bin/pegasus-exitcode", words)


TRUE = Script("/bin/true")
REAL = "-r $RETURN -l w-0.exitcode.log -M w-0.cache.meta -N .//00/00/task_1.out"
LIES = (
    REAL.replace("-r $RETURN", ""),
    REAL.replace("$RETURN", "0"),
    *(f"{option} {REAL}" for option in ("-r 0", "-r0", "-Nr0", "--return=0")),
    *(f"{option} {REAL}" for option in ("-I", "-nI", "--no-invocation", "--help")),
)
KEYS = ("bb_setup_S", CREATE, OUT, "bb_delete_D")
SKIPS: tuple[dict[str, Any], ...] = ({"noop": True}, {"done": True}, {"pre_skip": 76})

SPOILT: dict[Rule, list[Spoil]] = {
    dag_rules.one_of_each: [
        lambda run: run.dag.nodes.pop("bb_setup_S"),
        lambda run: run.dag.nodes.pop("bb_delete_D"),
        lambda run: run.dag.nodes.pop(CREATE),
        lambda run: run.add(CREATE, "bb_setup_T"),
        lambda run: run.add(CREATE, "bb_delete_E"),
        lambda run: run.add(CREATE, "create_dir_w_1_cori"),
        clustered_setup,
    ],
    dag_rules.setup_waits_for_no_user: [
        lambda run: run.add("task_1", "bb_setup_S"),
        lambda run: run.add(LEAF, "bb_setup_S"),
    ],
    dag_rules.setup_and_delete_need_no_buffer: [
        lambda run: run.users.add("bb_setup_S"),
        lambda run: run.users.add("bb_delete_D"),
    ],
    dag_rules.delete_is_last: [
        lambda run: run.add("bb_delete_D", LEAF),
        lambda run: run.add("bb_delete_D", "register_local_0_0"),
        lambda run: run.add(OWN, "task_2"),
        lambda run: run.users.add(OWN),
    ],
    dag_rules.no_special_nodes: [
        also(name, kind=kind)
        for name in ("task_1", "bb_setup_S", "bb_delete_D")
        for kind in ("FINAL", "SERVICE", "PROVISIONER")
    ],
    dag_rules.no_nodes_from_other_files: [
        lambda run, word=word: run.dag.other.append(f"{word} x more.dag")
        for word in ("SPLICE", "INCLUDE", "CONNECT", "splice")
    ],
    dag_rules.gated_node_has_no_pre_script: [
        also(CREATE, pre=TRUE),
        also(CREATE, pre=Script(GATE)),
    ],
    dag_rules.no_line_breaks: [
        also("task_1", vars={"x": "a\nFINAL f f.sub"}),
        also("task_1", pre=Script("/bin/true", "a\nFINAL f f.sub")),
        also("task_1", post=Script("/bin/true\rFINAL f f.sub")),
        also("task_1", category="a\nFINAL f f.sub"),
        lambda run: run.dag.other.append("DOT a\nFINAL f f.sub"),
    ],
    dag_rules.users_wait_for_the_gate: [lambda run: run.cut(CREATE, "task_1")],
    dag_rules.one_gate: [
        also(CREATE, pre=None),
        also(CREATE, pre=Script(GATE)),
        also("task_1", pre=Script(GATE, "", 75, 30)),
        also("task_1", pre=Script("/other/gate", "", 75, 30)),
    ],
    dag_rules.gate_waits_for_setup: [lambda run: run.cut("bb_setup_S", CREATE)],
    dag_rules.delete_waits_for_all: [
        lambda run: run.cut(LEAF, "bb_delete_D"),
        lambda run: run.add("task_1", "register_local_0_0"),
    ],
    dag_rules.nodes_really_run: [
        *(also(name, **skip) for name in (*KEYS, "task_1", LEAF) for skip in SKIPS),
        *(theirs(also("task_1", **skip)) for skip in SKIPS),
    ],
    dag_rules.post_scripts_are_known: [
        *(also(name, post=TRUE) for name in (*KEYS, "task_1", LEAF)),
        *(also(name, post=None) for name in KEYS),
        *(theirs(also(name, post=TRUE)) for name in (*KEYS, "task_1", EARLY, LEAF)),
        *(theirs(also(name, post=None)) for name in (*KEYS, "task_1", EARLY, LEAF)),
        *(theirs(also("task_1", post=exitcode(words))) for words in LIES),
        *(also("task_1", post=Script(POST.executable, words)) for words in LIES),
        theirs(also("register_local_0_0", post=TRUE)),
        theirs(also(OUT, post=Script("/bin/not-pegasus-exitcode"))),
        theirs(also(OUT, post=exitcode(f"--no-invocations {REAL}"))),
    ],
    dag_rules.no_success_by_abort: [
        also("task_1", abort_on=(3, 0)),
        also("task_1", abort_on=(0, None)),
        theirs(also("register_local_0_0", abort_on=(1, 0))),
    ],
    dag_rules.cleanup_waits_for_stage_out: [
        lambda run: run.cut(OUT, EARLY),
        lambda run: (run.cut(EARLY, LEAF), run.removes.clear()),
        lambda run: run.removes[EARLY].add("stage_out_remote_cori_1_0"),
    ],
}
CASES = [
    pytest.param(rule, spoil, id=f"{rule.__name__}-{number}")
    for rule, spoils in SPOILT.items()
    for number, spoil in enumerate(spoils)
]


def test_every_rule_is_shown_to_refuse() -> None:
    assert set(SPOILT) == {*BEFORE, *AFTER}


@pytest.mark.parametrize("rule", SPOILT, ids=lambda rule: rule.__name__)
def test_a_sealed_dag_passes(rule: Rule) -> None:
    assert list(rule(good().view())) == []


@pytest.mark.parametrize(("rule", "spoil"), CASES)
def test_what_breaks_a_rule_is_refused_by_it(rule: Rule, spoil: Spoil) -> None:
    run = good()
    name = "register_local_0_0"
    run.dag.nodes[name] = Node(name, "r.sub", post=POST)
    spoil(run)
    assert list(rule(run.view()))
    with pytest.raises(NotSealed):
        check(run.view())
    if rule in BEFORE:
        with pytest.raises(NotSealed):
            product.seal(run.view(), 30, 0)


ACCEPTED: list[Spoil] = [
    also("task_1", post=exitcode(REAL)),
    also("task_1", post=exitcode(f"-s PegasusLite:+exitcode+0 -f ERROR {REAL}")),
    also(OWN, post=None),
    also("register_local_0_0", post=None),
    also("pegasus-plan_S", post=None, pre=Script("00/00/pegasus-plan_S.pre.sh")),
    also("pegasus-plan_S", post=None, kind="SUBDAG"),
]


@pytest.mark.parametrize("change", ACCEPTED)
def test_what_a_real_planner_writes_is_accepted(change: Spoil) -> None:
    run = good()
    run.ours = False
    for name in ("register_local_0_0", "pegasus-plan_S"):
        run.add(CREATE, name)
    run.users.add("pegasus-plan_S")
    change(run)
    assert list(dag_rules.post_scripts_are_known(run.view())) == []


def test_a_task_is_no_sub_workflow_because_of_its_name() -> None:
    run = good()
    run.ours = False
    run.add(CREATE, "pegasus-plan_S")
    run.users.add("pegasus-plan_S")
    run.node("pegasus-plan_S", post=None)
    (told,) = dag_rules.post_scripts_are_known(run.view())
    assert "no POST script for pegasus-plan_S:" in told
    assert "Take post.scope out" in told


def entry(kind: str, path: str, recursive: str = "") -> dict[str, Any]:
    place = {"url": f"file://{path}", "recursive": recursive}
    return {"src_urls": [place]} if kind == "src" else {"target": place}


def test_what_a_clean_up_removes_is_read_from_the_job_lists() -> None:
    lists = {
        "stage_out_remote_cori_0_0": [entry("src", "/bb/x/run/a.txt")],
        "stage_out_local_cori_1_0": [entry("src", "/bb/x/run/sub/b.txt")],
        "clean_up_cori_level_3_0": [entry("target", "/bb/x/./run/a.txt")],
        "clean_up_cori_level_4_0": [entry("target", "/bb/x/run/sub", "True")],
        "clean_up_cori_level_5_0": [entry("target", "/bb/x/run/sub")],
        "cleanup_w_0_cori": [entry("target", "/bb/x/run/", "true")],
        "task_1": [entry("target", "/bb/x/run/a.txt")],
    }
    both = {"stage_out_remote_cori_0_0", "stage_out_local_cori_1_0"}
    assert removals(lists, lists.__getitem__) == {
        "clean_up_cori_level_3_0": {"stage_out_remote_cori_0_0"},
        "clean_up_cori_level_4_0": {"stage_out_local_cori_1_0"},
        "clean_up_cori_level_5_0": set(),
        "cleanup_w_0_cori": both,
    }
