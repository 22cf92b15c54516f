package cli

import (
	"os"
	"strconv"
	"strings"
)

// FreeMemory returns the bytes that a program may take now without swapping, as
// Linux estimates them; 0 where that is not known.
func FreeMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return availableIn(string(text))
}

// availableIn reads the line "MemAvailable: 123 kB".
func availableIn(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == "MemAvailable:" && words[2] == "kB" {
			if n, err := strconv.ParseInt(words[1], 10, 53); err == nil && n >= 0 {
				return n << 10
			}
		}
	}
	return 0
}
