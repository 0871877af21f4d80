-- Compare and set: only while nothing has moved the edition since the decision was made.
UPDATE docs_edition
   SET build = :build, publish_status = 'publishing', publish_seq = publish_seq + 1, publish_error = NULL, ref_missing_since = NULL,
       pinned = coalesce(:pinned, pinned), date_changed = :now
 WHERE id = :id AND publish_seq = :expected_seq AND date_deleted IS NULL
RETURNING publish_seq
