from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from scrapersky.errors import KeyMissing, SourceUnavailable
from scrapersky.providers.files import FileSettings, PlaceFiles
from scrapersky.providers.google_places import GoogleSettings
from scrapersky.providers.openstreetmap import NominatimSettings
from scrapersky.providers.registry import ProviderSettings, open_sources


@pytest.fixture
def settings(tmp_path: Path) -> ProviderSettings:
    return ProviderSettings(
        user_agent="test/1",
        import_dir=tmp_path,
        google=GoogleSettings(api_key=SecretStr("AIzaTest")),
    )


async def test_every_source_is_there_by_name(settings: ProviderSettings) -> None:
    async with open_sources(settings) as sources:
        assert sorted(sources) == ["file", "google", "osm"]
        assert all(sources[name].name == name for name in sources)
        assert sources.geocoder is not None


async def test_a_source_without_its_key_says_so_and_the_others_work(
    settings: ProviderSettings,
) -> None:
    async with open_sources(replace(settings, google=GoogleSettings())) as sources:
        assert sorted(sources) == ["file", "osm"]
        with pytest.raises(SourceUnavailable) as caught:
            sources["google"]

    assert "GOOGLE_MAPS_API_KEY" in str(caught.value.hint)
    assert isinstance(caught.value, KeyMissing)
    assert caught.value.pauses_stage


async def test_sources_can_be_switched_off(settings: ProviderSettings) -> None:
    off = replace(
        settings,
        openstreetmap_enabled=False,
        google=replace(settings.google, enabled=False),
        nominatim=NominatimSettings(enabled=False),
    )
    async with open_sources(off) as sources:
        assert list(sources) == ["file"]
        assert sources.geocoder is None
        for name, setting in [("osm", "OPENSTREETMAP"), ("google", "GOOGLE_PLACES")]:
            with pytest.raises(SourceUnavailable) as caught:
                sources[name]
            assert f"{setting}_ENABLED" in str(caught.value.hint)


async def test_an_unknown_source_names_the_known_ones(
    settings: ProviderSettings,
) -> None:
    async with open_sources(settings) as sources:
        with pytest.raises(SourceUnavailable) as caught:
            sources["yellow pages"]

    assert "file, google, osm" in str(caught.value.hint)


async def test_other_sources_can_be_added(
    settings: ProviderSettings, tmp_path: Path
) -> None:
    town = PlaceFiles(FileSettings(tmp_path))

    async with open_sources(settings, extra={"demo": town}) as sources:
        assert sources["demo"] is town
