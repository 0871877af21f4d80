INSERT INTO docs_org (slug, title, base_domain, url_scheme, root_path_prefix, slug_rewrite_rules, lifecycle_rules, auto_create,
                      default_edition, purgatory_retention, is_private, slots, date_created, date_changed)
VALUES (:slug, :title, :base_domain, :url_scheme, :root_path_prefix, :slug_rewrite_rules, :lifecycle_rules, :auto_create,
        :default_edition, :purgatory_retention, :is_private, :slots, :now, :now)
ON CONFLICT (slug) DO NOTHING
RETURNING slug
