"""The compiler's command line: commands, rendering, sessions, semantic diff."""
