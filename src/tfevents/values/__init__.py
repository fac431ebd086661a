"""One kind of data a file: `from_data` checks, `to_*_value` encodes, `from_value` decodes."""
