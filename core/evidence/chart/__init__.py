"""What charts state of a patient: entries with drug, dose, schedule, start, status and subject."""
