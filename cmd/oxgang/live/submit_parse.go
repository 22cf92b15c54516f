package live

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var units = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

// ParseBytes parses an amount of memory: "8GiB", "8G" (the same), "8.5 GB" or a number of bytes. "" is 0.
func ParseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	end := strings.LastIndexAny(text, "0123456789.") + 1
	n, err := strconv.ParseFloat(text[:end], 64)
	unit, known := units[strings.ToLower(strings.TrimSpace(text[end:]))]
	if err != nil || !known || !(n > 0 && n*unit >= 1 && n*unit < 1<<60) {
		return 0, fmt.Errorf("%q, want a size such as 8GiB or 500MB", text)
	}
	return int64(math.Round(n * unit)), nil
}

var dropped = []string{
	"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
	"ROLE_NAME", "ROLE_RANK", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "CUDA_VISIBLE_DEVICES",
}

// Captured returns env, the part of an environment that a job inherits, and odd, the variables that cannot be sent to
// the scheduler.
func Captured(environ []string) (env, odd []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		switch {
		case name == "" || strings.HasPrefix(name, "OXGANG_") || strings.HasPrefix(name, "TORCHELASTIC_") || slices.Contains(dropped, name):
		case !utf8.ValidString(line):
			odd = append(odd, name)
		default:
			env = append(env, line)
		}
	}
	return env, odd
}
