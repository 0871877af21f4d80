-- No row comes back for a kind that was never registered: there are no jobs of it.
UPDATE kind SET slots = :slots WHERE name = :name RETURNING name
