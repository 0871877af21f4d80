-- Locks the job until the commit: it must not end between this look and what is written about it, because others write beside us.
SELECT cancel_requested FROM job WHERE id = :id AND claim = :claim AND status = 'in_progress' FOR NO KEY UPDATE
