UPDATE docs_org
   SET title = :title, base_domain = :base_domain, url_scheme = :url_scheme, root_path_prefix = :root_path_prefix,
       slug_rewrite_rules = :slug_rewrite_rules, lifecycle_rules = :lifecycle_rules, auto_create = :auto_create,
       default_edition = :default_edition, purgatory_retention = :purgatory_retention, is_private = :is_private, slots = :slots,
       date_changed = :now
 WHERE slug = :slug
