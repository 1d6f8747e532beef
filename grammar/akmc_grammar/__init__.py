"""Text in, source IR out: YAML with places, body binder, references, front ends, diagnostics."""
