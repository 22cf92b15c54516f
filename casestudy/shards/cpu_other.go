//go:build !unix

package shards

import "time"

var start = time.Now()

// ProcessTime is a Clock: the time since the program's start, as there is no
// processor time to be had here.
func ProcessTime() time.Duration { return time.Since(start) }
