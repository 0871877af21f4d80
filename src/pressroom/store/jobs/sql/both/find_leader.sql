SELECT worker, process, term, until FROM leader WHERE name = :name
