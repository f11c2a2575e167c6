"""What values follow from: stored pages read again, to verify a list or to replay readers."""
