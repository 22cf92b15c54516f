package cli

import "testing"

func TestAvailableIn(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       24105736 kB\nMemAvailable:   22108364 kB\n": 22108364 << 10,
		"MemTotal: 1 kB\n":      0,
		"MemAvailable: 1 MB\n":  0,
		"MemAvailable: x kB\n":  0,
		"MemAvailable: -5 kB\n": 0,
		"MemAvailable: 7 kB":    7 << 10,
		"":                      0,
	} {
		if got := availableIn(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
