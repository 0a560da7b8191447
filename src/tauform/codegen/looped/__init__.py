"""Programs of many bodies as loops: one step for each kind of joint, the bodies' numbers in a table."""
