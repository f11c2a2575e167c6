"""How fast the crawler is, beside its peers, and what the hostile web costs it.

    python bench/crawl.py            2,000 pages, three rounds, real time-outs
    python bench/crawl.py --quick    one round, shorter time-outs, under a minute

Everyone crawls the same pages of 20 KB on 100 hosts on loopback, 50 at a time, and
takes title, links and e-mail addresses from each; all obey robots.txt except the bare
script, which is the limit. Rounds are interleaved and the best of each counts. Memory
is the peak of the proportional share of the whole process tree. The second table walks
through the hostile web of `tests/zoo`. The last line is one object of JSON.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.crawl_peers import town  # noqa: E402 - needs the path set above
from tests.zoo import namespace  # noqa: E402
from tests.zoo.run import run_apart  # noqa: E402

TOWN_HOSTS = 100
PEERS: dict[str, Sequence[str]] = {
    "this crawler": ("ours", "2"),
    "this crawler, without children": ("ours", "0"),
    "bare aiohttp + turbohtml": ("bare_aiohttp",),
    "Scrapy": ("scrapy_peer",),
    "Crawlee ParselCrawler": ("crawlee_peer", "parsel"),
    "Crawlee HttpCrawler + turbohtml": ("crawlee_peer", "plain"),
}
MIB = 1 << 20


@dataclass(slots=True)
class Entry:
    """What one crawler did over all rounds."""

    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return max(self.rates)


def time_all(pages: int, rounds: int) -> dict[str, Entry]:
    """Time everyone, taking turns, and check that all found the same."""
    entries = {name: Entry() for name in PEERS}
    urls = "\n".join(town.urls(pages, TOWN_HOSTS))
    with served():
        # Pages are made when they are first asked for: nobody should be timed for that.
        time_one(Entry(), PEERS["bare aiohttp + turbohtml"], urls)
        for _ in range(rounds):
            for name, words in PEERS.items():
                time_one(entries[name], words, urls)
    wanted = {"pages": pages, "titles": pages, "emails": pages * town.PAGE_EMAILS}
    for name, entry in entries.items():
        found = {key: entry.counts[key] for key in wanted}
        if found != wanted:
            raise SystemExit(f"{name} found {found} instead of {wanted}")
    return entries


def time_one(entry: Entry, words: Sequence[str], urls: str) -> None:
    module, *rest = words
    command = [sys.executable, "-m", f"bench.crawl_peers.{module}", *rest]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    with watched(process.pid) as peak:
        output, errors = process.communicate(urls, timeout=300)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors}")
    result = json.loads(output.splitlines()[-1])
    entry.rates.append(result["pages"] / result["seconds"])
    entry.cpu.append(result["cpu"] / result["pages"] * 1000)
    entry.memory.append(max(peak))
    entry.counts = result


@contextmanager
def served() -> Iterator[None]:
    """Serve the pages in a process of their own."""
    command = [sys.executable, "-m", "bench.crawl_peers.town", str(TOWN_HOSTS)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        if process.stdout.readline().strip() != "ready":
            raise SystemExit("the pages cannot be served")
        yield
    finally:
        process.communicate()


@contextmanager
def watched(pid: int) -> Iterator[list[int]]:
    """Note the memory of a process and its children until they end."""
    peak = [0]
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.15):
            try:
                root = psutil.Process(pid)
                tree = [root, *root.children(recursive=True)]
                peak.append(sum(each.memory_full_info().pss for each in tree))
            except psutil.Error:
                continue

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def show_speed(entries: dict[str, Entry]) -> None:
    ours = entries["this crawler"].rate
    print(f"{'crawler':<34}{'pages/s':>9}{'ours is':>9}{'CPU ms/page':>13}{'MiB':>7}")
    for name, entry in sorted(entries.items(), key=lambda pair: -pair[1].rate):
        memory = max(entry.memory) / MIB
        print(
            f"{name:<34}{entry.rate:>9.0f}{ours / entry.rate:>8.2f}x"
            f"{min(entry.cpu):>13.2f}{memory:>7.0f}"
        )
    print()


def show_hostile(result: dict[str, Any]) -> None:
    print(f"hostile web, {result['lane']} lane, time-outs x {result['pace']}")
    head = f"{'case':<8}{'what it does':<44}{'outcome':<16}"
    print(f"{head}{'seconds':>8}{'+MiB':>7}  judged")
    for row in result["rows"]:
        grown = "" if row["memory"] is None else f"{row['memory'] / MIB:.1f}"
        print(
            f"{row['id']:<8}{ascii(row['title'])[1:-1][:42]:<44}{row['outcome']:<16}"
            f"{row['seconds']:>8.2f}{grown:>7}  {row['complaint'] or 'as it should'}"
        )
    print(
        f"canary hits {len(result['canaries'])}, "
        f"packets to forbidden addresses {forbidden(result)}, "
        f"unclassified errors {len(result['unclassified'])}, leaks {result['leaks']}"
    )
    print()


def forbidden(result: dict[str, Any]) -> int | str:
    counted = result["forbidden_packets"]
    return "not counted" if counted is None else sum(counted.values())


def summary(
    entries: dict[str, Entry], hostile: dict[str, Any], mixed: dict[str, Any]
) -> dict[str, Any]:
    ours = entries["this crawler"]
    parsel = entries["Crawlee ParselCrawler"]

    def versus(name: str) -> float:
        return round(ours.rate / entries[name].rate, 2)

    return {
        "pages_per_second": round(ours.rate),
        "vs_scrapy": versus("Scrapy"),
        "vs_crawlee_parsel": versus("Crawlee ParselCrawler"),
        "vs_crawlee_http": versus("Crawlee HttpCrawler + turbohtml"),
        "vs_bare_aiohttp": versus("bare aiohttp + turbohtml"),
        "memory_mib": round(max(ours.memory) / MIB),
        "memory_vs_crawlee_parsel": round(max(ours.memory) / max(parsel.memory), 2),
        "hostile_cases": len(hostile["rows"]),
        "hostile_complaints": sum(1 for row in hostile["rows"] if row["complaint"]),
        "canary_hits": len(hostile["canaries"]),
        "forbidden_packets": forbidden(hostile),
        "unclassified_errors": len(hostile["unclassified"]),
        "leaks": sum(hostile["leaks"].values()) + hostile["server_connections"],
        "healthy_complete": mixed["complete"],
        "healthy_p95_ratio_with_hostile": mixed["p95_ratio"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    began = time.monotonic()
    entries = time_all(1000 if quick else 2000, 1 if quick else 3)
    show_speed(entries)
    lane = "loopback" if namespace.why_not() else "namespace"
    pace = "0.1" if quick else "1"
    hostile = run_apart(["--pace", pace], lane=lane, timeout=600)
    show_hostile(hostile)
    rounds = "1" if quick else "4"
    mixed = run_apart(["--mixed", "--rounds", rounds], lane=lane, timeout=600)
    print(
        f"50 healthy hosts beside 50 hostile ones: {mixed['complete']:.0%} complete, "
        f"p95 {mixed['p95_alone'] * 1000:.0f} ms alone, "
        f"{mixed['p95_mixed'] * 1000:.0f} ms among them\n"
    )
    result = summary(entries, hostile, mixed)
    result["seconds"] = round(time.monotonic() - began)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
