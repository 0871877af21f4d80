INSERT INTO token (uid, digest, prefix, name, scope, org_id, everywhere, date_created, expires_at)
VALUES (:uid, :digest, :prefix, :name, :scope, :org_id, :everywhere, :now, :expires_at)
