"""The dashboard, 404 page, switcher and edition metadata of a project, from templates."""
