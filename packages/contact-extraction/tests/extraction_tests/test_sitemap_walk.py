"""A walk through sitemap indexes ends, and says what it left out."""

from contact_extraction.sitemap import Entry, SitemapWalk


def children(*names: str) -> list[Entry]:
    return [Entry(f"https://a.test/{name}.xml") for name in names]


def walk_all(walk: SitemapWalk, tree: dict[str, list[str]]) -> list[str]:
    read = []
    while stop := walk.next_stop():
        name = stop.url.removeprefix("https://a.test/").removesuffix(".xml")
        read.append(name)
        walk.found(stop, pages=1, sitemaps=children(*tree.get(name, [])))
    return read


def test_an_index_that_names_itself_is_read_once() -> None:
    walk = SitemapWalk(["https://a.test/a.xml"])

    assert walk_all(walk, {"a": ["a", "b"], "b": ["a"]}) == ["a", "b"]
    assert walk.repeated == 2
    assert not walk.is_cut


def test_a_walk_goes_three_deep() -> None:
    walk = SitemapWalk(["https://a.test/a.xml"])

    assert walk_all(walk, {"a": ["b"], "b": ["c"], "c": ["d"]}) == ["a", "b", "c"]
    assert walk.too_deep == 1
    assert walk.is_cut


def test_fifty_thousand_children_cost_fifty_reads() -> None:
    walk = SitemapWalk(["https://a.test/a.xml"])
    names = [str(number) for number in range(50_000)]

    read = walk_all(walk, {"a": names} | dict.fromkeys(names[:50], names[:900]))

    assert len(read) == 50
    assert walk.is_cut
    assert walk.too_many > 40_000


def test_a_walk_stops_when_it_has_enough_pages() -> None:
    walk = SitemapWalk(["https://a.test/a.xml", "https://a.test/b.xml"], max_urls=10)

    stop = walk.next_stop()
    assert stop is not None
    walk.found(stop, pages=10)

    assert walk.room == 0
    assert walk.next_stop() is None
    assert walk.is_cut


def test_a_child_knows_its_parent() -> None:
    walk = SitemapWalk(["https://a.test/a.xml"])
    first = walk.next_stop()
    assert first is not None
    walk.found(first, pages=0, sitemaps=children("b"))

    second = walk.next_stop()

    assert second is not None
    assert (second.parent, second.depth) == ("https://a.test/a.xml", 2)
