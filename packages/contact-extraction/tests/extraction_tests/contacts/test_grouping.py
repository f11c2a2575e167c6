from contact_extraction.contacts import Group
from contact_extraction.contacts.finder import find_contacts

OFFICES = """<html lang="en"><body>
<h2>Denver office</h2><p>1640 Blake Street<br>Denver, CO 80202</p>
<p>Phone: (303) 534-2217</p><p>denver@larkspur.com</p>
<h2>Boston office</h2><p>220 Boylston Street<br>Boston, MA 02116</p>
<p>Phone: (617) 536-4100</p><p>boston@larkspur.com</p><p>Mon - Fri 9am - 5pm</p>
</body></html>"""
CARDS = """<html lang="en"><body><ul>
<li><h3>Laura Holloway</h3><p>Managing Director</p><p>(303) 534-2218</p></li>
<li><h3>Peter Brandt</h3><p>Office Manager</p><p>(303) 534-2219</p>
<p>peter@larkspur.com</p></li></ul></body></html>"""


def test_a_branch_keeps_its_own_number_address_and_hours() -> None:
    groups = find_contacts(OFFICES, "https://larkspur.com/").groups

    assert [summary(group) for group in groups] == [
        ("Denver office", "80202", ["+13035342217"], ["denver@larkspur.com"], 0),
        ("Boston office", "02116", ["+16175364100"], ["boston@larkspur.com"], 1),
    ]


def test_a_person_keeps_their_own_number_and_mail() -> None:
    groups = find_contacts(CARDS, "https://larkspur.com/").groups

    people = [(g.person.name, g.person.role) for g in groups if g.person]
    assert people == [
        ("Laura Holloway", "Managing Director"),
        ("Peter Brandt", "Office Manager"),
    ]
    assert [[p.e164 for p in g.phones] for g in groups] == [
        ["+13035342218"],
        ["+13035342219"],
    ]
    assert [e.address for e in groups[1].emails] == ["peter@larkspur.com"]


def summary(group: Group) -> tuple[str | None, str | None, list[str], list[str], int]:
    return (
        group.label,
        group.address.postal_code if group.address else None,
        [phone.e164 for phone in group.phones],
        [email.address for email in group.emails],
        len(group.hours),
    )
