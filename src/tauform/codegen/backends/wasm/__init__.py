"""WebAssembly as a target."""
