INSERT INTO wiki_link (article, url) SELECT :article, value FROM json_each(:urls) WHERE true ON CONFLICT DO NOTHING
