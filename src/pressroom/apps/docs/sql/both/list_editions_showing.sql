-- Editions that show a build, of all that are not deleted.
SELECT docs_edition.slug FROM docs_edition WHERE docs_edition.build = :build AND docs_edition.date_deleted IS NULL ORDER BY docs_edition.slug
