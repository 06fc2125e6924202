"""Tang et al. 2017, recomputed: our figures beside the paper's. See README.md."""

from __future__ import annotations

import argparse
import json

import tang_figures as figures

PAPER = {
    "reactive": ("CHIMERA, reactive", "889"),
    "ideal": ("ideal, as the paper counts", "54.5"),
    "provisioned": ("provisioned, aggressive", "55.3"),
    "provisioned_conservative": ("provisioned, conservative", "-"),
    "ideal_all": ("ideal, all of Table III", "-"),
    "provisioned_all": ("provisioned, all of Table III", "-"),
}
# The saturated bandwidths of Fig. 7, and the peaks of Fig. 8 on 4 and 2 OSTs.
FIG7 = {"HDD 1 MB": "4.0", "HDD 2 MB": "4.0", "SSD": "5.5"}
FIG8 = {"reactive": ("1.3", "0.8"), "proactive": ("0.5", "0.5")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs (3)")
    parser.add_argument("--json", action="store_true", help="print all as JSON")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    found = {"table2": figures.table2(), **figures.provisioning()}
    found["eq8"] = figures.eq8()
    found["fig8"], chart = figures.fig8(options.seeds)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print("\n".join([*_tables(found), "", *_fig8(found["fig8"], options.seeds, chart)]))


def _tables(found):
    yield "Table II: GB/s at the upper bound     eq. 4   Fig. 7"
    for name, each in found["table2"].items():
        fitted, plateau = each["bandwidth"], FIG7.get(name, "-")
        yield f"  {name:22} {each['upper']:5} stripes {fitted:7.3f} {plateau:>8}"
    yield ""
    yield "Table III: GB/s                         ours    paper"
    for key, (title, paper) in PAPER.items():
        yield f"  {title:35} {found[key]:8.2f} {paper:>8}"
    yield ""
    yield "Fig. 12: GB/s if dumps drain reactively"
    for name, rate in found["fig12"].items():
        yield f"  {name:35} {rate:8.2f}"
    yield ""
    eq8 = found["eq8"]
    yield f"Table III as the paper counts it, on {eq8['groups']} targets for 4 hours"
    yield f"  least segment by eq. 8              {eq8['n_io']:8} stripes"
    yield f"  load of the targets                 {eq8['used']:8.2%}"
    yield f"  late dumps                          {eq8['late']:8} of {eq8['dumps']}"
    yield f"  the latest                          {eq8['latest']:8.2f} s"


def _fig8(found, seeds, chart):
    seconds = f"{figures.WINDOW:g} s"
    yield f"Fig. 8: peak GB/s in {seconds}, (least, most) and mean of {seeds} seeds"
    yield "                                        ours    paper   late dumps"
    for place, osts in enumerate(figures.OSTS):
        for policy, each in found[f"osts_{osts}"].items():
            spread = f"({each['peak_min']:.3f}, {each['peak_max']:.3f})"
            paper = FIG8[policy][place]
            yield (
                f"  {osts} OSTs, {policy:9} {spread:16} {each['peak']:8.3f} {paper:>8}"
                f"   {each['late']} of {each['dumps']}"
            )
    yield f"  mean of all dumps                   {found['load']:8.3f}"
    yield f"  optimum: no lower peak without late {found['optimum']:8.3f}"
    yield ""
    yield "Seed 0, a character a minute, each step of .:-=+*#%@ is 0.2 GB/s:"
    yield from chart


if __name__ == "__main__":
    main()
