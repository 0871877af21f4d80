UPDATE schedule_tick SET job = :job WHERE schedule = :schedule AND tick = :tick
