"""One package a screen: its state and layout. No screen knows another; what two want is a widget."""
