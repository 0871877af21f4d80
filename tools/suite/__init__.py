"""The test command: `./dev test` and `./dev test --deep`."""
