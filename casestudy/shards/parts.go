package shards

import "time"

// A Part is what one part of a split round cost.
type Part struct {
	Shards, Servers int
	CPU             time.Duration
}
