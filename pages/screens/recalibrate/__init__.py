"""From reviewers' labels to a calibrator that decides."""
