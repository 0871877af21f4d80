INSERT INTO audit (at, who, org_id, action, target, before, after, request_id)
VALUES (:now, :who, :org_id, :action, :target, :before, :after, :request_id)
