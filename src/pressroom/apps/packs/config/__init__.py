"""What packs are made with: versioned keys for the registry of documents, templates, styles and strings."""
