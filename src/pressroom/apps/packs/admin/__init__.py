"""What operators of packs do: configuration, overlays, render jobs and figures."""
