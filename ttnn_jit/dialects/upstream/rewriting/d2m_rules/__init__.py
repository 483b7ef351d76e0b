"""Rules over d2m: types of tensors on a device, plans of `d2m.to_layout`, and the operations that plans become."""
