"""The wiki: articles in Markdown, every revision of which is rendered through the queue (design 000)."""
