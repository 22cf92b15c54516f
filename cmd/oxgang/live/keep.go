package live

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/live/local/statedir"
)

func keepFlag(cmd *cobra.Command, texts *[]string) {
	cmd.Flags().StringArrayVar(texts, "keep", nil, "retention of logs, checkpoints, journals or reports, by age and size, such as logs=30d,1GiB; ever for no limit")
}

// ParseKeep parses limits such as "logs=30d,1GiB", "journals=2GB" and "checkpoints=ever".
func ParseKeep(texts []string) (statedir.Limits, error) {
	all := statedir.Limits{}
	for _, text := range texts {
		category, value, _ := strings.Cut(text, "=")
		l, err := parseLimit(value)
		if err != nil {
			return nil, fmt.Errorf("--keep %q: %w", text, err)
		}
		all[statedir.Category(category)] = l
	}
	if err := all.Validate(); err != nil {
		return nil, fmt.Errorf("--keep: %w", err)
	}
	return all, nil
}

func parseLimit(text string) (statedir.Limit, error) {
	var l statedir.Limit
	if text == "ever" {
		return l, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		age, err := parseAge(part)
		bytes, err2 := ParseBytes(part)
		switch {
		case err == nil && age > 0 && l.Age == 0:
			l.Age = age
		case err != nil && err2 == nil && bytes > 0 && l.Bytes == 0:
			l.Bytes = bytes
		default:
			return l, fmt.Errorf("%q, want an age such as 30d or 12h, a size such as 1GiB, both separated by a comma, or ever", text)
		}
	}
	return l, nil
}

func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16) // 179 years
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}
