//go:build !linux

package statedir

import "time"

func clockNow() Clock { return Clock{Wall: time.Now().Round(0).UTC()} }
