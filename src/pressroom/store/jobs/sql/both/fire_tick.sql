-- The unique (schedule, tick) decides who fires: a second try, here or elsewhere, gets no row back.
INSERT INTO schedule_tick (schedule, tick, job) VALUES (:schedule, :tick, :job)
    ON CONFLICT DO NOTHING
RETURNING tick
