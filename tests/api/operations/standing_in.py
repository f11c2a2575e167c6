"""Stands in for the process of the demo: says that it is there, and ends when asked to."""

import sys

print("9", flush=True)
sys.stdin.read()
