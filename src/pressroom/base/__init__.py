"""Small modules without knowledge of jobs: files, JSON, fingerprints, lifecycles, probes of dependencies."""
