"""The apps. Each is a slice, from route to SQL, in one folder; none imports another."""
