-- A lease that ends later than it could was granted before the clock was set back. The living renew theirs; the dead
-- would otherwise be waited for as long as the clock was moved.
UPDATE job SET lease_until = :now + lease WHERE status = 'in_progress' AND lease_until > :now + lease
