SELECT EXISTS (SELECT 1 FROM job WHERE status = 'in_progress' AND lease_until > :now + lease)
