package journal

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Seconds is a duration that is written to JSON as a number of seconds, exact to the nanosecond.
type Seconds time.Duration

// MarshalJSON writes the number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) {
	if s < 0 {
		return nil, fmt.Errorf("duration is %v, want at least 0", time.Duration(s))
	}
	return appendSeconds(nil, time.Duration(s)), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	d, err := parseSeconds(string(text))
	*s = Seconds(d)
	return err
}

const nanos = int64(time.Second)

func appendSeconds(b []byte, d time.Duration) []byte {
	b = strconv.AppendInt(b, int64(d)/nanos, 10)
	rest := int64(d) % nanos
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit := nanos / 10; rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

// parseSeconds reads a decimal number of seconds: no sign, no exponent, at most nine decimals.
func parseSeconds(text string) (time.Duration, error) {
	whole, decimals, pointed := strings.Cut(text, ".")
	if !digits(whole) || pointed && !digits(decimals) || len(decimals) > 9 {
		return 0, fmt.Errorf("got %.40q, want seconds with at most nine decimals", text)
	}
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || sec >= math.MaxInt64/nanos {
		return 0, fmt.Errorf("got %.40q, want at most 292 years of seconds", text)
	}
	frac := int64(0)
	for i := range 9 {
		frac *= 10
		if i < len(decimals) {
			frac += int64(decimals[i] - '0')
		}
	}
	return time.Duration(sec*nanos + frac), nil
}

func digits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }) < 0
}

var errNegative = errors.New("negative duration, want at least 0")
