//go:build !linux

package statedir

import "time"

func clockNow() clock { return clock{Wall: time.Now().Round(0).UTC()} }
