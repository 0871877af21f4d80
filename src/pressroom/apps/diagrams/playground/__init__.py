"""The playground: its pages, forms and previews."""
