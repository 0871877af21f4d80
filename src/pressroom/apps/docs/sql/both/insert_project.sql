INSERT INTO docs_project (id, org, slug, title, source_url, git_url, slug_rewrite_rules, lifecycle_rules, auto_create,
                          purgatory_retention, on_broken_links, noindex, date_created, date_changed)
VALUES (:id, :org, :slug, :title, :source_url, :git_url, :slug_rewrite_rules, :lifecycle_rules, :auto_create,
        :purgatory_retention, :on_broken_links, :noindex, :now, :now)
ON CONFLICT (org, slug) WHERE date_deleted IS NULL DO NOTHING
RETURNING id
