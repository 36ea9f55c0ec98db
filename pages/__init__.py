"""One screen a file: get, one call, show. No rules about claims, no SQL."""
