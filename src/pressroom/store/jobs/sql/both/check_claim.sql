SELECT cancel_requested FROM job WHERE id = :id AND claim = :claim AND status = 'in_progress'
