package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Limits of times.
const (
	MaxSeconds  = 9e9 // limit of time.Duration
	FirstYear   = 1971
	LastYear    = 2250 // time.Duration since 1970 ends in 2262
	WantSeconds = "seconds of at least 0 and at most 9e9"
)

// Seconds parses a number of seconds, 0 to 9e9, exact to the nanosecond; it is the inverse of FormatSeconds.
func Seconds(s string) (time.Duration, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if n, err := strconv.ParseUint(whole, 10, 63); err == nil && len(fraction) <= 9 && n < MaxSeconds {
		nanos := uint64(0)
		if fraction != "" {
			if nanos, err = strconv.ParseUint(fraction, 10, 63); err != nil {
				return 0, false
			}
			for range 9 - len(fraction) {
				nanos *= 10
			}
		}
		return time.Duration(n)*time.Second + time.Duration(nanos), true
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= MaxSeconds) { // rejects NaN, too
		return 0, false
	}
	return time.Duration(math.Round(x * 1e9)), true
}

// FormatSeconds writes a duration of at least 0 as an exact decimal number of seconds.
func FormatSeconds(d time.Duration) string {
	s := strconv.FormatInt(int64(d/time.Second), 10)
	nanos := int64(d % time.Second)
	if nanos == 0 {
		return s
	}
	return s + "." + strings.TrimRight(fmt.Sprintf("%09d", nanos), "0")
}

// SinceStart returns the duration from Options.Start to t, or from 1970 if there is no Start. It returns false for
// years outside 1971 to 2250.
func SinceStart(t time.Time, o Options) (time.Duration, bool) {
	if y := t.Year(); y < FirstYear || y > LastYear {
		return 0, false
	}
	if o.Summary != nil {
		o.Summary.Dated, o.Summary.Began = true, o.Start
	}
	if o.Start.IsZero() {
		return t.Sub(time.Unix(0, 0)), true
	}
	return t.Sub(o.Start), true
}

// Instant parses a calendar time in UTC with the given layout, and returns it relative to Options.Start; see
// SinceStart.
func (r *Row) Instant(name, layout string) time.Duration {
	t, err := time.Parse(layout, r.Raw(name))
	d, ok := SinceStart(t, r.O)
	if err != nil || !ok {
		r.Fail(name, fmt.Sprintf("a time like %s", time.Date(2020, 8, 31, 23, 59, 0, 0, time.UTC).Format(layout)))
		return 0
	}
	return d
}
