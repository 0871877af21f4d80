"""The library: the pages of packs, their documents and versions, for people of the organisation and for holders of a link."""
