UPDATE docs_project
   SET title = :title, source_url = :source_url, git_url = :git_url, slug_rewrite_rules = :slug_rewrite_rules,
       lifecycle_rules = :lifecycle_rules, auto_create = :auto_create, purgatory_retention = :purgatory_retention,
       on_broken_links = :on_broken_links, noindex = :noindex, editions_version = editions_version + 1, date_changed = :now
 WHERE id = :id
