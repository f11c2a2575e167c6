"""Find people and what they do.

A person is a run of capitalised words that begins with a known given name, or that
stands beside a role or an honorific. Streets, schools and firms named after people
are distinguished by the word that follows.
"""

from contact_extraction.contacts.person.name import looks_like_person
from contact_extraction.contacts.person.reader import (
    PersonClues,
    describe_people,
    find_people,
)
from contact_extraction.contacts.person.role import has_role_word, role_in

__all__ = [
    "PersonClues",
    "describe_people",
    "find_people",
    "has_role_word",
    "looks_like_person",
    "role_in",
]
