"""SVG: made safe, and made into pictures and paper."""
