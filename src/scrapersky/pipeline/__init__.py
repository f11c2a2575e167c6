"""What a stage is declared with and works with; knows no stage by name."""
