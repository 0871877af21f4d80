SELECT name FROM kind WHERE paused = 1
