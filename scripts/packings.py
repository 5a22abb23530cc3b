#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# packings.py: how long `dmo-trace plan PROBLEM.csv --capacity` takes on hard packings, and MiniMalloc on the same ones.
#
#   scripts/packings.py --minimalloc PATH/TO/minimalloc            # 200 problems from seeds 1 to 200
#   scripts/packings.py --minimalloc PATH --problem A.csv B.csv    # problems with a capacity of 1 MiB
#
# Each problem has a plan within the capacity that is hard to find: a full rectangle (time times capacity) cut into
# pieces, a few of which are taken out, or pieces of about the same size, each as low as it fits. Both programs run in
# turn, on one core; times are CPU time.
#
# Requirements: a release build (cargo build --release --locked); Python 3.11 or newer

import argparse
import csv
import math
import os
import pathlib
import random
import resource
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
CAPACITY = 1 << 20
UNIT = 1 << 10
# Less is hardly more than the time that a program takes to start, in seconds.
HARD = 0.1


def rectangle(chance, pieces):
    """Cuts (0, 0) to (1024, 1024) into pieces, each (begin, end, bottom, top)."""
    upright = chance.uniform(0.25, 0.75)
    least = chance.choice([1, 2, 4])
    parts = [(0, 1024, 0, 1024)]
    while len(parts) < pieces:
        # The larger of two: pieces differ in size, but none stays large.
        index = max(chance.sample(range(len(parts)), min(2, len(parts))), key=lambda it: area(parts[it]))
        begin, end, bottom, top = parts[index]
        if chance.random() < upright and end - begin >= 2 * least:
            cut = chance.randint(begin + least, end - least)
            halves = [(begin, cut, bottom, top), (cut, end, bottom, top)]
        elif top - bottom >= 2 * least:
            cut = chance.randint(bottom + least, top - least)
            halves = [(begin, end, bottom, cut), (begin, end, cut, top)]
        else:
            continue
        parts[index : index + 1] = halves
    return parts


def area(part):
    begin, end, bottom, top = part
    return (end - begin) * (top - bottom)


def repeated(parts, times):
    """The same pieces several times, one after the other."""
    ranges = ((turn, part) for turn in range(times) for part in parts)
    return [
        ((turn * 1024 + begin) // times, (turn * 1024 + end) // times, bottom, top)
        for turn, (begin, end, bottom, top) in ranges
    ]


def even(chance, pieces):
    """Pieces of about the same size, each where it fits lowest at its time."""
    parts = []
    for _ in range(200 * pieces):
        length, size = chance.randint(20, 50), chance.randint(40, 100)
        begin = chance.randint(0, 1024 - length)
        alive = sorted((part for part in parts if part[0] < begin + length and begin < part[1]), key=lambda part: part[2])
        bottom = 0
        for part in alive:
            if part[2] - bottom >= size:
                break
            bottom = max(bottom, part[3])
        if bottom + size <= 1024:
            parts.append((begin, begin + length, bottom, bottom + size))
        if len(parts) == pieces:
            break
    return parts


def problem(seed):
    """Rows (lower, upper, size) of a problem."""
    chance = random.Random(seed)
    if chance.random() < 0.25:
        kept = even(chance, chance.randint(250, 400))
    else:
        pieces, taken_out = chance.randint(150, 450), chance.uniform(0.01, 0.2)
        times = chance.choice([1, 1, 1, 2, 4])
        parts = [part for part in repeated(rectangle(chance, pieces // times), times) if part[0] < part[1]]
        kept = chance.sample(parts, math.ceil(len(parts) * (1 - taken_out)))
    chance.shuffle(kept)
    return [(begin * UNIT, end * UNIT, (top - bottom) * UNIT) for begin, end, bottom, top in kept]


def write(rows, path):
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["id", "lower", "upper", "size"])
        table.writerows([index, *row] for index, row in enumerate(rows))


def seconds(command, limit):
    """CPU time of a command, and whether it found a plan."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limits = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode == 0


def ours(path, limit):
    # Its time is an amount of work, most of which takes less; what ends it is the limit of the processor.
    work = ["--time", str(4 * limit)]
    command = [REPOSITORY / "target/release/dmo-trace", "plan", path, "--capacity", str(CAPACITY), *work]
    return seconds(command, limit)


def theirs(program, path, limit):
    with tempfile.NamedTemporaryFile() as solution:
        command = [program, f"--capacity={CAPACITY}", f"--input={path}", f"--output={solution.name}", f"--timeout={limit}s"]
        took, _ = seconds(command, limit)
        return took, os.path.getsize(solution.name) > 0


def main():
    arguments = argparse.ArgumentParser(description="Hard packings: dmo-trace against MiniMalloc.")
    arguments.add_argument("--minimalloc", help="its program, built with -O3")
    arguments.add_argument("--problem", nargs="+", help="files in place of problems from seeds")
    arguments.add_argument("--seeds", type=int, nargs=2, default=(1, 200), metavar=("FIRST", "LAST"))
    arguments.add_argument("--limit", type=int, default=10, help="seconds for each (default: 10)")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(list(problems(given, pathlib.Path(folder))), given)


def problems(given, folder):
    if given.problem:
        yield from ((path, path) for path in given.problem)
        return
    first, last = given.seeds
    for seed in range(first, last + 1):
        path = folder / f"{seed}.csv"
        write(problem(seed), path)
        yield seed, path


def compare(paths, given):
    both, counts = [], {"ours": 0, "theirs": 0}
    for name, path in paths:
        took, solved = ours(path, given.limit)
        counts["ours"] += solved
        line = f"{name}: {took:.2f} s" if solved else f"{name}: none in {given.limit} s"
        if given.minimalloc:
            other, other_solved = theirs(given.minimalloc, path, given.limit)
            counts["theirs"] += other_solved
            line += f", MiniMalloc {other:.2f} s" if other_solved else f", MiniMalloc none in {given.limit} s"
            if other_solved:
                both.append((name, took if solved else math.inf, other))
        print(line, flush=True)
    print(f"{len(paths)} problems: {counts['ours']} solved" + f", by MiniMalloc {counts['theirs']}" * bool(given.minimalloc))
    if both:
        slower = [row for row in both if row[1] > 1.2 * row[2]]
        ratios = [other / max(took, 0.001) for _, took, other in both if took != math.inf and max(took, other) >= HARD]
        mean = math.exp(sum(map(math.log, ratios)) / max(len(ratios), 1))
        print(f"of {len(ratios)} that MiniMalloc solves and one of both takes {HARD} s for: {mean:.1f} times as fast in the geometric mean")
        print(f"slower than 1.2 times MiniMalloc: {len(slower)}")
        for name, took, other in slower:
            print(f"  {name}: {took:.3f} s, MiniMalloc {other:.3f} s")


if __name__ == "__main__":
    main()
