"""Passes: source IR to frozen plan, one module per pass; bundles and config."""
