"""What `bench/mixed.py` puts together: hostile sites, and an application that visits them."""
