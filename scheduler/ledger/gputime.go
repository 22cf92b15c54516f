package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A GPUTime is a number of GPUs times a duration, exact to the nanosecond. It holds up to 292 billion GPU-years.
type GPUTime struct {
	seconds int64
	nanos   int64 // 0 to 999,999,999
}

// Of returns the GPU time of gpus GPUs for duration d. Neither may be negative.
func Of(gpus int, d time.Duration) GPUTime {
	nanos := int64(gpus) * int64(d%time.Second)
	return GPUTime{int64(gpus)*int64(d/time.Second) + nanos/1e9, nanos % 1e9}
}

// Plus returns the sum of t and u.
func (t GPUTime) Plus(u GPUTime) GPUTime {
	nanos := t.nanos + u.nanos
	return GPUTime{t.seconds + u.seconds + nanos/1e9, nanos % 1e9}
}

// IsZero reports whether t is 0.
func (t GPUTime) IsZero() bool { return t == GPUTime{} }

// Seconds returns GPU-seconds.
func (t GPUTime) Seconds() float64 { return float64(t.seconds) + float64(t.nanos)/1e9 }

// Hours returns GPU-hours.
func (t GPUTime) Hours() float64 { return t.Seconds() / 3600 }

func (t GPUTime) String() string {
	if t.nanos == 0 {
		return strconv.FormatInt(t.seconds, 10)
	}
	return strings.TrimRight(fmt.Sprintf("%d.%09d", t.seconds, t.nanos), "0")
}

// MarshalJSON writes GPU-seconds as a number.
func (t GPUTime) MarshalJSON() ([]byte, error) { return []byte(t.String()), nil }
