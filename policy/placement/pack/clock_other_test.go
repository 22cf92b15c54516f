//go:build !unix

package pack_test

import "time"

var started = time.Now()

// clock returns the time since the start.
func clock() time.Duration { return time.Since(started) }
