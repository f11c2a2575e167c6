"""The page is built once, from its sources, and again only when they change."""

import gzip
import re
from pathlib import Path

import pytest

from scripts import page as page_build


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    place = tmp_path / "frontend"
    (place / "src").mkdir(parents=True)
    (place / "src" / "main.ts").write_text("go()")
    (place / "package-lock.json").write_text("{}")
    return place


def test_the_fingerprint_knows_content_not_time(sources: Path) -> None:
    before = page_build.fingerprint(sources)
    (sources / "src" / "main.ts").write_text("go()")
    assert page_build.fingerprint(sources) == before

    (sources / "src" / "main.ts").write_text("stop()")
    assert page_build.fingerprint(sources) != before


@pytest.mark.parametrize(
    "name", ["node_modules/x/y.js", "src/a.test.ts", "openapi.json"]
)
def test_what_does_not_change_the_page_builds_nothing(sources: Path, name: str) -> None:
    before = page_build.fingerprint(sources)
    place = sources / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("anything")

    assert page_build.fingerprint(sources) == before


def test_a_page_made_from_these_sources_is_current(
    sources: Path, tmp_path: Path
) -> None:
    target = tmp_path / "ui"
    assert not page_build.is_current(sources, target)

    target.mkdir()
    (target / ".built").write_text(page_build.fingerprint(sources))
    assert page_build.is_current(sources, target)

    (sources / "src" / "more.ts").write_text("more()")
    assert not page_build.is_current(sources, target)


def test_sources_that_passed_are_checked_again_only_when_they_change(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    answers = {"style": True, "types": False, "tests": True}

    def checked(_sources: Path, name: str, *_words: str) -> bool:
        ran.append(name)
        return answers[name]

    monkeypatch.setattr(page_build, "install_all", lambda _root: None)
    monkeypatch.setattr(page_build, "schema_is_current", lambda _sources: True)
    monkeypatch.setattr(page_build, "checked", checked)
    (sources / "node_modules").mkdir()

    assert not page_build.check(sources.parent)
    answers["types"] = True
    assert page_build.check(sources.parent)
    assert ran == [*answers, *answers]  # what failed is checked again

    assert page_build.check(sources.parent)
    assert len(ran) == 6

    (sources / "src" / "main.test.ts").write_text("expect(1).toBe(1)")
    assert page_build.check(sources.parent)
    assert len(ran) == 9


def test_the_new_page_takes_the_place_of_the_old_one_whole(tmp_path: Path) -> None:
    old, new = tmp_path / "ui", tmp_path / "ui.new"
    for place, name in ((old, "old.js"), (new, "new.js")):
        place.mkdir()
        (place / name).write_text(name)

    page_build.replace(new, old)

    assert [path.name for path in old.iterdir()] == ["new.js"]
    assert [path.name for path in tmp_path.iterdir()] == ["ui"]


def test_texts_get_a_compressed_twin(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("go()")
    (tmp_path / "b.woff2").write_bytes(b"font")

    page_build.run(page_build.ROOT / "frontend", "../compress.mjs", tmp_path)

    assert gzip.decompress((tmp_path / "a.js.gz").read_bytes()) == b"go()"
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.js", "a.js.br", "a.js.gz", "b.woff2"
    }  # fmt: skip


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(("twin", "most"), [(".br", 145_000), (".gz", 160_000)])
@pytest.mark.parametrize("screen", ["home", "curate", "pipeline"])
def test_a_first_screen_outgrew_its_bound(screen: str, twin: str, most: int) -> None:
    """What Vite says that a screen needs, with what the start page needs itself."""
    place = page_build.ROOT / "src" / "scrapersky" / "ui"
    start = (place / "index.html").read_text()
    needed = {"index.html", *re.findall(r"/(assets/[^\"]+\.(?:js|css))", start)}
    (entry,) = (name for name in needed if re.search(r"/index-.*js$", name))
    script = (place / entry).read_text()
    files = re.findall(r"\"(assets/[^\"]+)\"", script.partition("]))")[0])
    parts = rf"import\(`\./{screen}-[^`]+`\)[^`]*?,__vite__mapDeps\(\[([\d,]+)\]\)"
    (numbers,) = re.findall(parts, script)
    needed |= {files[int(number)] for number in numbers.split(",")}

    assert len(needed) > 10
    assert sum((place / f"{name}{twin}").stat().st_size for name in needed) < most


def test_without_the_registry_it_says_what_to_do(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = page_build.ROOT / "frontend" / "package-lock.json"
    (sources / "package-lock.json").write_bytes(lock.read_bytes())
    manifest = page_build.ROOT / "frontend" / "package.json"
    (sources / "package.json").write_bytes(manifest.read_bytes())
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9/")
    monkeypatch.setenv("NPM_CONFIG_FETCH_RETRIES", "0")
    monkeypatch.setenv("NPM_CONFIG_CACHE", str(sources / "cache"))

    with pytest.raises(page_build.PageError, match="npm registry") as caught:
        page_build.install(sources, everything=False)

    assert "HTTPS_PROXY" in str(caught.value)
    assert "WITHOUT_PAGE=1" in str(caught.value)
