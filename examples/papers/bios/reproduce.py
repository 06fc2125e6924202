"""Koo et al. 2021, simulated: our figures beside the paper's. See README.md."""

from __future__ import annotations

import argparse
import json

import bios_figures as figures

SYNTHETIC = {  # title, the paper's WAF and MB/s
    "legacy": ("legacy, no streams", "1.74", "358"),
    "best": ("configuration 1: one lifetime a stream", "1.00", "952"),
    "config2": ("configuration 2: half of one", "1.15", "655"),
    "config3": ("configuration 3: no two alike", "up to 1.4", "-"),
    "config3_no_trim": ("the same without TRIM", "-", "-"),
    "job_per_stream": ("one job a stream", "1.04", "914"),
}
STRIPES = {  # the paper's WAF: legacy, BIOS
    "1": ("1.53", "1.00"),
    "2": ("1.69", "1.02"),
    "4": ("1.74", "1.15"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs (3)")
    parser.add_argument("--json", action="store_true", help="print all as JSON")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    found = {
        **figures.synthetic(options.seeds),
        "policies": figures.policies(options.seeds),
        "shapes": figures.shapes(options.seeds),
    }
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print("\n".join(lines(found)))


def lines(found):
    return [*_paper(found), "", *_workflows(found)]


def _paper(found):
    yield f"Section 5.2, 32 users {'WAF':>22} {'paper':>9} {'MB/s':>7} paper  a day"
    for key, (title, waf, rate) in SYNTHETIC.items():
        each = found[key]
        yield (
            f"  {title:38}{each['waf']:6.3f} {waf:>9} {each['mb_s']:7.0f} {rate:>5}"
            f" {each['drive_writes_per_day']:6.1f}"
        )
    yield ""
    yield "Section 5.5, stripes                  legacy     paper   BIOS     paper"
    for count, (legacy, bios) in STRIPES.items():
        ours = found["stripes"][count]
        yield (
            f"  on {count}, {8 * int(count):2} users {ours['legacy']['waf']:26.3f} "
            f"{legacy:>9} {ours['user']['waf']:6.3f} {bios:>9}"
        )


def _workflows(found):
    one, four = found["policies"]["users_1"], found["policies"]["users_4"]
    yield "40 workflows, all shapes: WAF         1 user   4 users"
    for name, waf in one["waf"].items():
        yield f"  {name:32} {waf:9.3f} {four['waf'][name]:9.3f}"
    yield (
        f"  sigma {figures.ERROR:g}: BIOS's rule is {one['gain']:.3f} and "
        f"{four['gain']:.3f} times the best one"
    )
    yield f"  best: {one['auto']}; {four['auto']}"
    yield ""
    yield "40 workflows of one user, of one shape: WAF"
    yield "                     user workflow   cohort     best: which one at sigma 0.5"
    for shape, each in found["shapes"].items():
        waf, auto = each["waf"], each["auto"]
        numbers = (waf[name] for name in ("user", "workflow", "cohort", auto))
        yield (
            f"  {shape:14}" + "".join(f"{each:9.3f}" for each in numbers) + f"  {auto}"
        )


if __name__ == "__main__":
    main()
