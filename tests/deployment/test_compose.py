"""The compose file, read as the specification of Compose says."""

import pytest
import yaml  # type: ignore[import-untyped]

from scripts.deployment import COMPOSE
from tests.deployment.packages import package

pytestmark = pytest.mark.long


def test_compose_would_take_every_value() -> None:
    specification = package("compose_spec").ComposeSpecification
    composed = yaml.safe_load(COMPOSE.read_text())

    specification.model_validate(composed)

    composed["services"]["api"]["stop_grace_period"] = 20
    with pytest.raises(ValueError, match="stop_grace_period"):
        specification.model_validate(composed)
