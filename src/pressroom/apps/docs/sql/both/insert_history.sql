INSERT INTO docs_history (edition, build, seq, "trigger", actor, job_uid, publish_status, date_created)
VALUES (:edition, :build, :seq, :trigger, :actor, :job_uid, 'publishing', :now)
