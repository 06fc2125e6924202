"""How a report's tables call its quantities."""

from __future__ import annotations

from pegasus_bb.report.metrics import IOWait

CLOCK = {
    "compute": "jobs of the workflow",
    "stage_in": "else staging in",
    "stage_out": "else staging out",
    "auxiliary": "else other jobs of Pegasus",
    "reserve": "else reserving",
    "release": "else giving back",
    "gate_wait": "else waiting at the gate",
    "queue": "else queueing",
    "ready_wait": "else ready, not submitted",
    "other": "else nothing",
}
STAGING = {
    "in_bytes": "staged in",
    "in_rate": "staged in, per s",
    "out_bytes": "staged out",
    "out_rate": "staged out, per s",
    "results_safe": "until the last result is safe, s",
    "footprint": "all files",
}
LAYER = {
    "read_bandwidth": "read\nper s",
    "write_bandwidth": "written\nper s",
    "read_time": "reading\ns",
    "write_time": "writing\ns",
    "meta_time": "meta\ns",
    "other_time": "other\ns",
    "slowest_time": "slowest\ns",
    "slowest_to_average": "slowest\n/mean",
}
RATES = (
    *("io_rate", "bandwidth", "read_bandwidth", "write_bandwidth"),
    *("in_rate", "out_rate"),
)
SIZES = (*RATES, "bytes_read", "bytes_written", "in_bytes", "out_bytes", "footprint")
WAIT = {IOWait.MEASURED: "I/O wait\ns", IOWait.OFF_CPU: "off CPU\ns"}
