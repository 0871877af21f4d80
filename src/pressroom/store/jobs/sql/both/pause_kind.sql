-- No row comes back for a kind that was never registered: there are no jobs of it.
UPDATE kind SET paused = :paused WHERE name = :name RETURNING name
