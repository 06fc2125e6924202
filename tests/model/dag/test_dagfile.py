"""DAGMan files: what Pegasus wrote is read whole, what we write is read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError, UnplacedError
from pegasus_bb.model.dag.nodes import Dag, Node, Script
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.model.dag.writer import write_dag

RECORDED = Path(__file__).parents[2] / "recorded" / "pegasus-5.1.2"


def read(tmp_path: Path, text: str) -> Dag:
    file = tmp_path / "w.dag"
    file.write_text(text)
    return read_dag(file)


# --- what Pegasus 5.1.2 wrote ---


@pytest.mark.parametrize(
    ("name", "nodes", "edges"),
    [("plain", 13, 16), ("gated", 15, 20), ("clustered", 12, 14)],
)
def test_a_dag_of_pegasus_is_read_whole_and_written_again(
    name: str, nodes: int, edges: int, tmp_path: Path
) -> None:
    dag = read_dag(RECORDED / name / "demo-0.dag")
    assert len(dag.nodes) == nodes
    assert sum(map(len, dag.children.values())) == edges
    assert dag.other == []
    write_dag(dag, tmp_path / "again.dag")
    assert read_dag(tmp_path / "again.dag") == dag


# --- everything that DAGMan has ---


def test_every_line_about_a_node_is_read(tmp_path: Path) -> None:
    dag = read(
        tmp_path,
        """\
        # comments, // comments, empty lines and any case
        // like this

        retry A 3 unless-exit 2
        Job A a.sub DIR sub/dir NOOP DONE
        job B\tb.sub
        SCRIPT DEFER 75 30 PRE A gate.sh  -x  'one' "two"
        script post A check.sh
        PRE_SKIP A 4
        ABORT-DAG-ON A 9 RETURN 1
        abort-dag-on B 8
        CATEGORY A heavy
        MAXJOBS heavy 2
        PRIORITY A -5
        VARS A one="a \\"quoted\\" \\\\ word" two = 'x y' three="first"
        VARS A three=again
        PARENT A   CHILD\t B
        DONE B
        CONFIG dagman.config
        """,
    )
    assert dag.nodes["A"] == Node(
        "A",
        "a.sub",
        directory="sub/dir",
        noop=True,
        done=True,
        pre=Script("gate.sh", "-x  'one' \"two\"", 75, 30),
        post=Script("check.sh"),
        retry=3,
        unless_exit=2,
        priority=-5,
        category="heavy",
        vars={"one": 'a "quoted" \\ word', "two": "x y", "three": "again"},
        pre_skip=4,
        abort_on=(9, 1),
    )
    assert dag.nodes["B"].done and dag.nodes["B"].abort_on == (8, None)
    assert dag.children == {"A": ["B"]}
    assert dag.max_jobs == {"heavy": 2}
    assert dag.other == ["CONFIG dagman.config"]


# --- mistakes ---


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("JOB B", "needs a name and a file"),
        ("JOB A a.sub", "there twice"),
        ("JOB parent a.sub", "reserved"),
        ("JOB B b.sub WHAT", "WHAT"),
        ('JOB B ""', "needs a name and a file"),
        ("SUBMIT-DESCRIPTION d {", "inline submit description"),
        ("PARENT A CHILD missing", "missing"),
        ("PARENT A", "PARENT a b CHILD c d"),
        ("PARENT ALL_NODES CHILD A", "ALL_NODES"),
        ("SCRIPT PRE A", "SCRIPT [DEFER"),
        ("SCRIPT DEFER x 3 PRE A gate", "not a whole number"),
        ("RETRY A", "RETRY node times"),
        ("RETRY A 2 UNLESS 3", "UNLESS"),
        ("RETRY missing 2", "does not define"),
        ('VARS A x="open', "macros"),
        ("ABORT-DAG-ON A 3 WITH 2", "WITH"),
        ("SUBDAG INTERNAL S s.dag", "EXTERNAL"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    tmp_path: Path, line: str, says: str
) -> None:
    with pytest.raises(CatalogError) as caught:
        read(tmp_path, f"JOB A a.sub\n\n{line}\n# the end\n")
    assert f"{tmp_path}/w.dag:3:" in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "node",
    [
        Node("a b", "x.sub"),
        Node("a\nJOB evil", "x.sub"),
        Node("child", "x.sub"),
        Node("#a", "x.sub"),
        Node("a", "x y.sub"),
        Node("a", ""),
        Node("a", "{"),
        Node("a", "x.sub", kind="SPLICE"),
        Node("a", "x.sub", directory="a b"),
        Node("a", "x.sub", category="c\n"),
        Node("a", "x.sub", pre=Script("gate\nABORT")),
        Node("a", "x.sub", pre=Script("gate", "one\nABORT-DAG-ON a 0")),
        Node("a", "x.sub", post=Script("check", "nul\0")),
        Node("a", "x.sub", post=Script("check", "joins the next line \\")),
        Node("a", "x.sub", vars={"x": "one\ntwo"}),
        Node("a", "x.sub", vars={"queue": "5"}),
        Node("a", "x.sub", vars={"a b": "5"}),
    ],
)
def test_nothing_foreign_becomes_a_line(tmp_path: Path, node: Node) -> None:
    with pytest.raises(UnplacedError, match="cannot stand in a DAG file"):
        write_dag(Dag(nodes={node.name: node}), tmp_path / "w.dag")
    assert list(tmp_path.iterdir()) == [], "no half-written file stays behind"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "w.dag"
    file.write_text("JOB old old.sub\n")
    with pytest.raises(UnplacedError):
        write_dag(Dag(nodes={"a": Node("a", "b c")}), file)
    assert list(read_dag(file).nodes) == ["old"]
