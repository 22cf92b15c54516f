package client

import (
	"context"
	"testing"
)

// What scontrol says of slurmctld's start is found; where it says nothing, nothing is.
func TestBooted(t *testing.T) {
	for text, want := range map[string]string{
		"Configuration data as of 1795782850\nBOOT_TIME               = 1795782844\nBurstBufferType = (null)\n": "1795782844", "": "",
	} {
		c := Client{Run: func(context.Context, Command) ([]byte, error) { return []byte(text), nil }}
		if got, err := c.Booted(t.Context()); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
