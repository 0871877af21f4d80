-- A version that was rendered stays so, whatever becomes of a later attempt.
UPDATE diagram_version
   SET status = :status, error = :error, date_settled = :now
 WHERE diagram = :diagram AND number = :number AND status <> 'completed'
