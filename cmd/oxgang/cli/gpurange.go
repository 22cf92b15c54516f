package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/live/control"
)

// ParseRange parses a number of GPUs, such as "2", or a range, such as "1..4".
func ParseRange(text string) (control.Range, error) {
	low, high, elastic := strings.Cut(text, "..")
	if !elastic {
		high = low
	}
	least, err := strconv.ParseUint(low, 10, 16)
	most, bad := strconv.ParseUint(high, 10, 16)
	if err != nil || bad != nil || least < 1 || most < least {
		return control.Range{}, fmt.Errorf("--gpus %q, want a number, or a range such as 1..4", text)
	}
	return control.Range{Min: int(least), Max: int(most)}, nil
}
