-- Whether a delivery hands out the jobs of a kind. If not, a worker of its own looks for them in this database.
ALTER TABLE kind ADD COLUMN uses_delivery INTEGER NOT NULL DEFAULT 1;
UPDATE kind SET uses_delivery = 0 WHERE name = 'webhook';
