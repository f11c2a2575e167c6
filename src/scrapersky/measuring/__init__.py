"""How good the whole pipeline is: annotated websites are served, and it runs over them."""
