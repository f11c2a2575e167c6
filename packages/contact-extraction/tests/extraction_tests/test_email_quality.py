import pytest

from contact_extraction.email_quality import judge_email
from contact_extraction.email_type import EmailType


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("info@acme.com", EmailType.SERVICE),
        ("kundenservice@firma.de", EmailType.SERVICE),
        ("sales.uk@acme.com", EmailType.SERVICE),
        ("info2@acme.com", EmailType.SERVICE),
        ("ann.lee@acme.com", EmailType.CORPORATE),
        ("ann.lee@gmail.com", EmailType.FREE),
        ("ann.lee@mail.yahoo.co.uk", EmailType.FREE),
        ("x1@mailinator.com", EmailType.FREE),
        ("ann@@acme.com", EmailType.UNKNOWN),
        ("ann..lee@acme.com", EmailType.UNKNOWN),
        ("ann@acme", EmailType.UNKNOWN),
        ("ann@acme.notasuffix", EmailType.UNKNOWN),
    ],
)
def test_an_address_has_a_kind(address: str, kind: EmailType) -> None:
    assert judge_email(address).type is kind


def test_a_throwaway_mailbox_is_told_from_a_free_one() -> None:
    assert judge_email("a@yopmail.com").is_disposable
    assert not judge_email("a@gmail.com").is_disposable
    assert judge_email("a@gmail.com").is_free


@pytest.mark.parametrize(
    ("site", "same"),
    [
        ("www.acme.co.uk", True),
        ("shop.acme.co.uk", True),
        ("other.co.uk", False),
        (None, None),
    ],
)
def test_the_domain_is_compared_by_what_can_be_registered(
    site: str | None, *, same: bool | None
) -> None:
    assert judge_email("ann@mail.acme.co.uk", site).is_same_domain is same


@pytest.mark.parametrize(
    "department",
    [
        "werkstatt", "rechnungswesen", "gerance", "rrhh", "officina", "administratie",
        "dyrekcja", "uctarna", "ugyvezeto", "contabilitate", "regnskab", "talous",
        "insankaynaklari", "logistirio",
    ],
)  # fmt: skip
def test_a_department_of_another_language_was_a_person(department: str) -> None:
    assert judge_email(f"{department}@firma.de").type is EmailType.SERVICE
