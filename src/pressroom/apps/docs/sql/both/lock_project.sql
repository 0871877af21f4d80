-- Builds of a project are numbered, and its editions are created and moved, one after the other.
UPDATE docs_project
   SET date_changed = :now
 WHERE id = :id AND date_deleted IS NULL
RETURNING /* project_columns */
