UPDATE docs_edition
   SET title = :title, kind = :kind, tracking_mode = :tracking_mode, tracking_params = :tracking_params,
       lifecycle_exempt = :lifecycle_exempt, pinned = :pinned, date_changed = :now
 WHERE id = :id
