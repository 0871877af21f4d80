UPDATE packs_batch_line
   SET date_requested = :now, skipped = :skipped, error = :error
 WHERE batch = :batch AND number = :number
