"""The people who are crawled and erased at the same time."""

from scrapersky.privacy.subject import Subject, any_subject

BEGUN = "begun"
"""What a process says when it has started and does its work."""
QUEUE_ALL = (
    "UPDATE pages SET page_processing_status = 'Queued', etag = NULL",
    "UPDATE domains SET status = 'pending'",
)


def page_of(number: int) -> str:
    """Write one person, and a neighbour who is not erased."""
    return (
        "<title>Our team</title>"
        f'<p>Person {number}: <a href="mailto:person{number}@a{number}.bv">'
        f"person{number}@a{number}.bv</a>, next to her "
        f"<a href='mailto:other{number}@a{number}.bv'>other{number}@a{number}.bv</a></p>"
    )


def person(number: int) -> Subject:
    """Name one of them."""
    return any_subject(f"person{number}@a{number}.bv")
