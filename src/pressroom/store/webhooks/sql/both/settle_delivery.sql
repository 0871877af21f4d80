-- Close a delivery in the transaction that ends its job, unless another job has taken over.
UPDATE webhook_delivery
   SET state = :state, error = coalesce(:error, error), date_ended = :now
 WHERE uid = :uid AND job = :job AND state = 'waiting'
