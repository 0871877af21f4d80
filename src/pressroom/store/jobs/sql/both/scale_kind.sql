-- No row comes back for a kind that nobody ever registered: of those there are no jobs.
UPDATE kind SET slots = :slots WHERE name = :name RETURNING name
