//go:build !unix

package rounds

import "time"

var start = time.Now()

// cpu returns the time since the program's start: there is no CPU time here.
func cpu() time.Duration { return time.Since(start) }
