UPDATE packs_batch SET lines = :lines WHERE id = :id
