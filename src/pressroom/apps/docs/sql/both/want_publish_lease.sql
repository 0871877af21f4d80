UPDATE docs_publish_lease SET wanted_seq = :seq WHERE place = :place AND wanted_seq < :seq
