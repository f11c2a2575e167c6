"""Lists that stay true: searches that are repeated, websites visited again, what differs."""
