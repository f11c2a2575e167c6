"""What the commands take, apart from what they do: `--help` loads nothing else.

A command is loaded when it is run. To load one takes a second or two: every stage says what
its settings are, so that most commands load what the stages need.
"""
