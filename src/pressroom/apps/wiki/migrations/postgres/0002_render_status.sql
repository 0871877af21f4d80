-- W28, W30: how a revision's HTML fares. All that was there before was rendered.
--   queued    created, and its render is pending
--   rendered  the HTML is current
--   stale     to be rendered again, or at all, when somebody opens it: the template or the renderer changed, or a newer revision
--             came before its turn
--   failed    the render failed; the HTML, if any, is an older one
ALTER TABLE wiki_revision ADD COLUMN render_status TEXT NOT NULL DEFAULT 'rendered'
    CHECK (render_status IN ('queued', 'rendered', 'stale', 'failed'));

CREATE INDEX wiki_revision_stale ON wiki_revision (article, number) WHERE render_status = 'stale';

-- To find, at a start, what would be made differently today.
CREATE INDEX wiki_revision_renderer ON wiki_revision (renderer) WHERE render_status = 'rendered';
