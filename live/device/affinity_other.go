//go:build !linux

package device

// affinity is not known here.
func affinity() []int { return nil }
