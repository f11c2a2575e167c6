"""What we use of lxml that it does not document: the type of its elements."""

from typing import TypeAlias

from lxml import etree

Element: TypeAlias = etree._Element  # noqa: SLF001 - the only name it has
