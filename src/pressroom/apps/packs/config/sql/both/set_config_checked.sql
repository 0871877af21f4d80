-- A version that is or was published keeps its status: it was valid when it was published.
UPDATE packs_config
   SET status = :status, problems = :problems
 WHERE org_id = :org_id AND key = :key AND number = :number AND status IN ('draft', 'valid', 'invalid')
