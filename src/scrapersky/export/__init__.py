"""Take the contacts away: files that other programs open without harm."""
