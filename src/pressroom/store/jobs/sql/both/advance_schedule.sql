UPDATE schedule SET last_tick = :tick WHERE name = :name AND last_tick < :tick
