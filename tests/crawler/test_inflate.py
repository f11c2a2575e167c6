"""Bodies are inflated by us, a step at a time, and never past their limits."""

import gzip
import itertools
import random
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction_tests.pace import takes_at_most
from scrapersky.crawler.inflate import BodyInflater, Coding, read_codings
from scrapersky.crawler.limits import MIB, FetchLimits
from scrapersky.errors import BadHttp, FetchError, TooBig
from tests.zoo.encoding import EMPTY_BLOCKS, gzip_of

TEXT = b"<html>" + b"hello world " * 2000 + b"</html>"


def inflate(
    data: bytes, *codings: Coding, step: int = 1000, most: int = 10 * MIB
) -> BodyInflater:
    inflater = BodyInflater("http://a.example/", list(codings), FetchLimits(), most)
    for start in range(0, len(data), step):
        inflater.feed(data[start : start + step])
    return inflater


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


@pytest.mark.parametrize("step", [1, 7, 1000, 10**6])
@pytest.mark.parametrize(
    ("data", "codings"),
    [
        (TEXT, []),
        (gzip.compress(TEXT), ["gzip"]),
        (zlib.compress(TEXT), ["deflate"]),
        (raw_deflate(TEXT), ["deflate"]),
        (gzip.compress(gzip.compress(TEXT)), ["gzip", "gzip"]),
        (zlib.compress(gzip.compress(TEXT)), ["deflate", "gzip"]),
        (gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]), ["gzip"]),
        (gzip.compress(TEXT) + b"trailing junk", ["gzip"]),
        (TEXT, ["gzip"]),
        (TEXT, ["deflate"]),
        (gzip.compress(TEXT), ["deflate"]),
    ],
    # A gzip header holds the time: without names, two test processes disagree.
    ids=itertools.count(),
)
def test_what_was_packed_comes_out(
    data: bytes, codings: list[Coding], step: int
) -> None:
    inflater = inflate(data, *codings, step=step)

    assert bytes(inflater.out) == TEXT
    assert inflater.is_whole


def test_a_bomb_is_stopped_before_it_grows() -> None:
    bomb = gzip_of(b"\0" * MIB, 128)
    tracemalloc.start()

    with pytest.raises(TooBig):
        inflate(bomb, "gzip", step=len(bomb))

    assert tracemalloc.get_traced_memory()[1] < 16 * MIB
    tracemalloc.stop()


def test_a_bomb_in_a_bomb_is_stopped() -> None:
    bomb = gzip.compress(gzip_of(b"\0" * MIB, 64))

    with pytest.raises(TooBig):
        inflate(bomb, "gzip", "gzip")


def test_a_body_that_is_large_only_between_its_layers_cost_seconds() -> None:
    bomb = gzip_of(EMPTY_BLOCKS, 64, head=gzip.compress(b"")[:10])
    with takes_at_most(0.5), pytest.raises(TooBig) as refused:
        inflate(bomb, "gzip", "gzip")

    assert not refused.value.retryable


@pytest.mark.parametrize(
    "most", [10 * MIB, pytest.param(50 * MIB, marks=pytest.mark.long)]
)
def test_no_layer_grows_beyond_what_the_whole_may(most: int) -> None:
    engine = zlib.compressobj(level=0, wbits=31)
    noise = random.Random(0).randbytes(MIB)
    middle = b"".join(engine.compress(noise) for _ in range(most // MIB + 1))
    body = gzip.compress(noise + middle)

    with pytest.raises(TooBig, match="inflated"):
        inflate(body, "gzip", "gzip", step=len(body), most=most)


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_what_is_not_wanted_of_a_body_was_kept(step: int) -> None:
    inflater = BodyInflater("http://a.example/", [], FetchLimits(), MIB, keep=10)
    for start in range(0, 5000, step):
        inflater.feed(b"0123456789"[start % 10 :][:step].ljust(step, b"x"))

    assert len(inflater.out) == 10
    assert inflater.size >= 5000


def test_the_ratio_counts_only_beyond_a_megabyte() -> None:
    small = gzip.compress(b"\0" * (MIB - 1))

    assert len(inflate(small, "gzip").out) == MIB - 1
    with pytest.raises(TooBig, match="grew"):
        inflate(gzip.compress(b"\0" * (2 * MIB)), "gzip")


def test_truncated_data_is_not_whole() -> None:
    packed = gzip.compress(TEXT)

    inflater = inflate(packed[:-20], "gzip")

    assert not inflater.is_whole
    assert TEXT.startswith(bytes(inflater.out))


def test_corrupt_data_is_bad_http() -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[30:60] = b"\xff" * 30

    with pytest.raises(BadHttp):
        inflate(bytes(packed), "gzip")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        (["gzip"], ["gzip"]),
        (["GZIP, x-gzip"], ["gzip", "gzip"]),
        (["deflate", "gzip"], ["gzip", "deflate"]),
        (["identity"], []),
    ],
)
def test_codings_are_undone_outermost_first(
    values: list[str], expected: list[str]
) -> None:
    assert read_codings("", values, limit=2) == expected


@pytest.mark.parametrize(
    "values",
    [["br"], ["zstd"], ["gzip, br"], ["compress"], ["gzip, gzip, gzip"], ["\x1b[31m"]],
)
def test_codings_never_asked_for_are_bad_http(values: list[str]) -> None:
    with pytest.raises(BadHttp) as refused:
        read_codings("http://a.example/", values, limit=2)

    assert str(refused.value).isprintable()


@given(
    st.binary(max_size=2000),
    st.lists(st.sampled_from(["gzip", "deflate"]), max_size=2),
    st.integers(1, 100),
)
def test_any_bytes_inflate_or_are_refused(
    data: bytes, codings: list[Coding], step: int
) -> None:
    try:
        inflater = inflate(data, *codings, step=step)
    except FetchError:
        return
    assert len(inflater.out) <= 10 * MIB
