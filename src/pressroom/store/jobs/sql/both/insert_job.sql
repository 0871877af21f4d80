-- A job is born queued. A keyed one waits for its key at first; promote_key_candidate.sql lets it start if the key has no holder.
INSERT INTO job (id, uid, kind, tier, seq, run_at, status, waits_for, max_attempts, max_crashes, key, on_key, fingerprint, org_id,
                 project_id, build_id, subject, parent, retry_of, trace, retention, date_created)
VALUES (:id, :uid, :kind, :tier, :id, :run_at, 'queued', :waits_for, :max_attempts, :max_crashes, :key, :on_key, :fingerprint, :org_id,
        :project_id, :build_id, :subject, :parent, :retry_of, :trace, :retention, :now)
