#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How many candidates of an architecture search the oracle answers in a second, on one core.

Candidates are MobileNets v1 of 31 operators with random widths and resolutions. --least fails below that many.
"""

import argparse
import random
import sys
import time

from dmo_trace import Oracle
from networks import mobilenet


def candidates(count, seed):
    """Widths of the stem and of 13 blocks, and a resolution."""
    numbers = random.Random(seed)
    for _ in range(count):
        widths = [8 * numbers.randint(1, 2 + index * 2) for index in range(14)]
        yield numbers.choice([96, 128, 160, 192, 224]), widths


def timed(what, count, work):
    start = time.perf_counter()
    answers = work()
    rate = count / (time.perf_counter() - start)
    print(f"{what}: {rate:,.0f} a second")
    return rate, answers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--least", type=float, default=0)
    options = parser.parse_args()
    given = list(candidates(options.count, seed=1))
    graphs = []
    timed("built in Python", len(given), lambda: graphs.extend(mobilenet(size, 3, widths, 10) for size, widths in given))
    oracle = Oracle()
    rate, answers = timed("asked, each for the first time", len(graphs), lambda: [oracle.ask(graph) for graph in graphs])
    timed("asked, all operators seen before", len(graphs), lambda: [oracle.ask(graph) for graph in graphs])
    whole, _ = timed("built and asked", len(given), lambda: [Oracle().ask(mobilenet(size, 3, widths, 10)) for size, widths in given])
    proven = sum(answer.certificate == "optimal" for answer in answers)
    sizes = len({answer.peak_bytes for answer in answers})
    print(f"{proven} of {len(answers)} proven optimal, {sizes} different sizes")
    if min(rate, whole) < options.least:
        print(f"fewer than {options.least:,.0f} a second", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
