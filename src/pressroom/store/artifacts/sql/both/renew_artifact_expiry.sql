-- What a job has beside this artifact, such as a long source, lives no shorter than it.
UPDATE artifact
   SET expires_at = :expires_at
 WHERE job_uid = (SELECT job_uid FROM artifact WHERE uid = :uid) AND uid <> :uid AND expires_at < :expires_at
