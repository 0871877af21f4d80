INSERT INTO wiki_link (article, url) SELECT :article, value FROM json_array_elements_text(:urls::json) ON CONFLICT DO NOTHING
