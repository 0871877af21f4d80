-- Two builds may find the same new edition: the second one's insert does nothing.
INSERT INTO docs_edition (id, project, slug, slug_key, title, kind, tracking_mode, tracking_params, lifecycle_exempt, pinned,
                          date_created, date_changed)
VALUES (:id, :project, :slug, :slug_key, :title, :kind, :tracking_mode, :tracking_params, :lifecycle_exempt, :pinned, :now, :now)
ON CONFLICT (project, slug_key) WHERE date_deleted IS NULL DO NOTHING
RETURNING id
