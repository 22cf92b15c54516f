package config

import (
	"fmt"
	"time"
)

// Location returns the time zone called name: "Europe/Berlin", "UTC", or "Local"; nil if name is
// empty.
func Location(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("zone %q, want one like Europe/Berlin, or UTC, or Local", name)
	}
	return zone, nil
}
