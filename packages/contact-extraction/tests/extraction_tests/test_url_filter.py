"""URLs looked at a column at a time meet the same fate as one by one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from contact_extraction.sitemap.model import Drop
from contact_extraction.sitemap.url_filter import UrlFilter
from contact_extraction.urls import canonical_url

ORIGIN = "https://a.test/"
PLAIN = "aZ9/_~!$&*+,=:@-."
ODD = PLAIN + "?;(#% é\\<|\t'"
URLS = st.lists(
    st.builds(ORIGIN.__add__, st.text(PLAIN, max_size=8))
    | st.builds(ORIGIN.__add__, st.text(ODD, max_size=8))
    | st.builds(ORIGIN.__add__, st.text("%eE38aF1x/", max_size=12))
    | st.sampled_from(
        [
            None,
            "",
            "https://a.test",
            "http://a.test/",
            "https://b.a.test/x",
            "https://b.test/",
            "mailto:x@a.test",
            "/relative",
            "https://A.test/x",
            "https://a.test/x?utm_source=1",
            "https://a.test/" + "x" * 2100,
        ]
    ),
    max_size=12,
)


def a_gate(max_urls: int = 1_000) -> UrlFilter:
    url_filter = UrlFilter(base=None, site="a.test", max_urls=max_urls, any_host=False)
    url_filter.admit([ORIGIN + "first"])
    return url_filter


@given(URLS)
@settings(max_examples=100)
def test_a_column_is_judged_like_its_urls_one_by_one(urls: list[str | None]) -> None:
    together, apart = a_gate(), a_gate()

    admitted = together.admit(urls)

    assert admitted == [found for url in urls for found in apart.admit([url])]
    assert together.dropped == apart.dropped
    assert together.kept == apart.kept


@given(st.lists(st.text(PLAIN, max_size=10), max_size=8))
def test_what_is_admitted_is_canonical(paths: list[str]) -> None:
    admitted = a_gate().admit([ORIGIN + path for path in paths])

    kept = [url for url in admitted if url is not None]
    assert kept == [canonical_url(url) for url in kept]


def test_the_limit_holds_within_a_column() -> None:
    url_filter = a_gate(max_urls=3)

    admitted = url_filter.admit([f"{ORIGIN}{n}" for n in range(5)])

    assert admitted == [f"{ORIGIN}0", f"{ORIGIN}1", None, None, None]
    assert url_filter.dropped == {Drop.OVER_LIMIT: 3}
    assert url_filter.is_full
