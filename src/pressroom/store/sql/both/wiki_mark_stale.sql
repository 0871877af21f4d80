-- Every page that was made by this renderer. Its HTML stays until there is another.
UPDATE wiki_revision SET render_status = 'stale' WHERE render_status = 'rendered' AND renderer = :renderer
