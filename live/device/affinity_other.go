//go:build !linux

package device

func affinity() []int { return nil }
