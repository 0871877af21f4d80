"""Documents from templates: Jinja in a sandbox, with filters for dates, money, Markdown and bar codes."""
