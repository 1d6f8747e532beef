"""``akmc graph``: a plan, or the difference of two, as Mermaid, DOT, SVG or a page."""
