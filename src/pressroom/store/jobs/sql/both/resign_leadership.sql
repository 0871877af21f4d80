-- The lease ends now; the row stays, because it remembers the term.
UPDATE leader SET until = 0 WHERE name = :name AND worker = :worker
