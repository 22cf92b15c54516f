package config

import (
	"fmt"
	"time"
)

// Location returns the time zone called name, such as "Europe/Berlin", "UTC" or "Local". If name is empty, it returns
// nil.
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
