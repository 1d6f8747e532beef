"""Safe fixes: byte for byte elsewhere, in one run."""
