package agentapi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/job"
)

type span struct {
	least, most float64
	tiny        float64 // smaller values count as 0
	unit        string
}

// gradients covers somewhat more than 32-bit floats, and keeps quotients finite.
var (
	seconds   = span{most: 24 * 60 * 60, unit: " s"}
	samples   = span{most: 1e18, unit: " samples"}
	gradients = span{most: 1e30, tiny: 1e-30}
	counts    = span{most: 1<<53 - 1} // whole numbers that JSON carries exactly
	ordinals  = span{least: 1, most: 1<<53 - 1}
	epochs    = span{most: job.MaxEpochs}
	lengths   = span{least: 1, most: job.MaxEpochs, unit: " epochs"}
	workers   = span{least: 1, most: 1e6}
	batches   = span{least: 1, most: 1e9, unit: " samples"}
	limits    = span{most: 1e9, unit: " samples"} // 0 for no limit
	passes    = span{most: 1e9}
	versions  = span{least: Version, most: Version}
)

// admit returns a value that is never NaN, infinite or -0, or an error with the wanted range.
func (s span) admit(v float64) (float64, error) {
	if !(v >= s.least && v <= s.most) { // false for NaN
		return 0, fmt.Errorf("%v, want %s", v, s)
	}
	if v < s.tiny {
		return 0, nil
	}
	return v + 0, nil // -0 becomes 0
}

func (s span) String() string {
	if s.least == s.most {
		return plain(s.most) + s.unit
	}
	return plain(s.least) + " to " + plain(s.most) + s.unit
}

func plain(v float64) string {
	if v < 1e16 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

type boundary struct{ complaints []string }

func (b *boundary) float(name string, v *float64, s span) {
	admitted, err := s.admit(*v)
	if err != nil {
		b.bad("%s %v", name, err)
	}
	*v = admitted
}

func (b *boundary) whole(name string, v int64, s span) {
	if _, err := s.admit(float64(v)); err != nil {
		b.bad("%s %d, want %s", name, v, s)
	}
}

func (b *boundary) bad(format string, args ...any) {
	b.complaints = append(b.complaints, fmt.Sprintf(format, args...))
}

func (b *boundary) err() error {
	const most = 10
	n := len(b.complaints)
	switch {
	case n == 0:
		return nil
	case n > most:
		return fmt.Errorf("%w: %s; and %d more", ErrInvalid, strings.Join(b.complaints[:most], "; "), n-most)
	}
	return fmt.Errorf("%w: %s", ErrInvalid, strings.Join(b.complaints, "; "))
}
