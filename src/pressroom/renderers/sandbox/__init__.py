"""The box: presses, their pools, and the walls around them."""
