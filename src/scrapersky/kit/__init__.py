"""Clock, ids, text: small things that know nothing of places or pages."""
