-- No row comes back for a kind that nobody ever registered: of those there are no jobs.
UPDATE kind SET paused = :paused WHERE name = :name RETURNING name
