"""What a verb answers: short, counts first, and with foreign text marked as foreign."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

import orjson

BYTES_PER_TOKEN: Final = 2
"""Answers are ids, numbers and names: tokenizers were seen to make 2.2 to 3.2 bytes one token."""
DEFAULT_TOKENS: Final = 2_000
MAX_TOKENS: Final = 8_000
MAX_TEXT_CHARACTERS: Final = 300
OPENING: Final = "⟦"
CLOSING: Final = "⟧"
OWN_WORDS: Final = frozenset(
    {
        *("id", "record_id", "company_id", "search_id", "contact_id", "action_id"),
        *("domain_id", "page_id", "into", "tenant_id", "cursor", "next_cursor"),
        *(
            "kind",
            "kinds",
            "event",
            "state",
            "status",
            "lead_status",
            "stage",
            "source",
        ),
        *(
            "email_kind",
            "field",
            "fields",
            "method",
            "confirm",
            "at",
            "next_at",
            "hint",
        ),
        *("created_at", "updated_at", "seen_at", "first_seen_at", "followed_at"),
        *("finished_at", "estimated_end_at", "currency", "next", "how", "download"),
        *("deliverability", "paused_why", "last_error"),
        *("price_low", "price_likely", "price_high"),
    }
)
"""Fields whose words are ours; whatever else is a text may come from a website."""
ORDINARY: Final = re.compile(r"[\w.:/+-]{0,120}", re.ASCII)
"""What our own words are made of: ids, moments, cursors, names."""
CUT: Final = " [cut]"
UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
"""Marks and letters that leave no trace: a sentence can be spelt in variation selectors."""
LOOKALIKES: Final = str.maketrans(
    {OPENING: None, CLOSING: None}
    | dict.fromkeys("〚⟬⦗⦋", "[")
    | dict.fromkeys("〛⟭⦘⦌", "]")
)
"""What is or could be taken for one of our marks."""


def marked(value: Any, field: str = "") -> Any:  # noqa: ANN401 - any JSON
    """Mark every text that may come from a website, at any depth."""
    if isinstance(value, str):
        is_own = field in OWN_WORDS and ORDINARY.fullmatch(value)
        return value if is_own else foreign(value)
    if isinstance(value, Mapping):
        return {
            plain_key(str(key)): marked(one, str(key)) for key, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [marked(one, field) for one in value]
    return value


def plain_key(key: str) -> str:
    """Return a name of a field; one that is no name was given by somebody else."""
    return key if ORDINARY.fullmatch(key) else foreign(key)


def foreign(text: str) -> str:
    """Write a text of others between marks that it cannot contain, on one line."""
    visible = "".join(
        " " if unicodedata.category(sign) in {"Cc", "Zl", "Zp"} else sign
        for sign in text.translate(LOOKALIKES)
        # Signs that are not seen, or change the order of others (bidi), or are private.
        if unicodedata.category(sign) not in {"Cf", "Co", "Cs", "Cn"}
        and not UNSEEN.match(sign)
    )
    short = " ".join(visible.split())
    if len(short) > MAX_TEXT_CHARACTERS:
        short = short[:MAX_TEXT_CHARACTERS] + CUT
    return f"{OPENING}{short}{CLOSING}"


def without_nothing(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Leave out what is not known: it says nothing and costs as much."""
    if isinstance(value, Mapping):
        found = {key: without_nothing(one) for key, one in value.items()}
        return {key: one for key, one in found.items() if one not in (None, "", [], {})}
    if isinstance(value, list):
        return [without_nothing(one) for one in value]
    return value


def tokens_of(text: str | bytes) -> int:
    """Estimate how many tokens a text is."""
    size = len(text.encode() if isinstance(text, str) else text)
    return -(-size // BYTES_PER_TOKEN)


def written(
    answer: Mapping[str, Any], rows: str = "items", most: int = DEFAULT_TOKENS
) -> str:
    """Write an answer within its budget: rows that do not fit are left for the next call.

    Of a record that is too long by itself the longest fields are only named.
    """
    content = dict(without_nothing(answer))
    most = min(most, MAX_TOKENS)
    text = orjson.dumps(content)
    while tokens_of(text) > most and content.get(rows):
        too_many = max(1, len(content[rows]) // 4)
        content[rows] = content[rows][:-too_many]
        content["left_out"] = content.get("left_out", 0) + too_many
        text = orjson.dumps(content)
    record = dict(content.get("record") or {})
    while tokens_of(text) > most and record:
        longest = max(record, key=lambda name: len(orjson.dumps(record[name])))
        del record[longest]
        named = [*content.get("fields_left_out", ()), longest]
        content |= {"record": record, "fields_left_out": named}
        text = orjson.dumps(content)
    if tokens_of(text) > most:
        text = orjson.dumps(
            {"error": "The answer is too long.", "hint": "Ask for one record, or less."}
        )
    return text.decode()
