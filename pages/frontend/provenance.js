function drawProvenance(state) {}
