package parse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/workload"
)

// Limits of fields.
const (
	MaxCount   = 1_000_000     // GPUs, CPUs, replicas
	MaxSamples = math.MaxInt32 // batch sizes
	maxNames   = 4096          // distinct values of repeated columns that share storage
)

// A Row is one row of a table in a text file. Its methods parse fields by column name. The first failure sets Err;
// later calls still return values.
type Row struct {
	Header
	O      Options
	Line   int      // 1-based, in the file
	Index  int      // 0-based, among the rows
	fields []string // valid until the next row
	shared map[string]string
	Err    error
}

// NewRow returns a Row for a file with header h. It contains no line yet.
func NewRow(o Options, h Header) *Row { return &Row{O: o, Header: h, shared: map[string]string{}} }

// Fail sets Err: the field called name does not have the form that want describes.
func (r *Row) Fail(name, want string) {
	if r.Err == nil {
		i := r.column[name]
		r.Err = &Error{
			File: r.O.File, Line: r.Line, Column: i + 1,
			Problem: fmt.Sprintf("%s %s, want %s", name, Quote(r.fields[i]), want),
		}
	}
}

// Quote returns s in quotes, shortened for a message.
func Quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}

// Raw returns the text of a field, or "" if the file lacks the column. It is valid until the next row.
func (r *Row) Raw(name string) string {
	if i, ok := r.column[name]; ok {
		return strings.TrimSpace(r.fields[i])
	}
	return ""
}

// Place returns the position of the column called name, or -1 if the file lacks it.
func (r *Row) Place(name string) int {
	if i, ok := r.column[name]; ok {
		return i
	}
	return -1
}

// At returns the text of the field at position place, which Place returned; see Raw.
func (r *Row) At(place int) string {
	if place < 0 {
		return ""
	}
	return strings.TrimSpace(r.fields[place])
}

// Text returns a copy of the text of a field.
func (r *Row) Text(name string) string { return strings.Clone(r.Raw(name)) }

// Word returns a copy of the text of a field. Equal texts share memory.
func (r *Row) Word(name string) string {
	s := r.Raw(name)
	if kept, ok := r.shared[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	if len(r.shared) < maxNames {
		r.shared[s] = s
	}
	return s
}

// ID returns a copy of a field. An empty field is an error.
func (r *Row) ID(name string) string {
	s := r.Text(name)
	if s == "" {
		r.Fail(name, "a name")
	}
	return s
}

// Count parses a whole number from least to most.
func (r *Row) Count(name string, least, most int) int {
	text := strings.TrimSuffix(r.Raw(name), ".0") // as pandas writes columns with gaps
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && n >= int64(least) && n <= int64(most):
		return int(n)
	case n > int64(most) && isNumber(text):
		r.Fail(name, fmt.Sprintf("a whole number of at most %d", most))
	default:
		r.Fail(name, fmt.Sprintf("a whole number of at least %d", least))
	}
	return least
}

func isNumber(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Number parses a finite number of at least 0.
func (r *Row) Number(name string) float64 {
	x, err := strconv.ParseFloat(r.Raw(name), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		r.Fail(name, "a finite number of at least 0")
		return 0
	}
	return x + 0 // -0 becomes 0
}

// Amount parses a number of at least 0 and returns it multiplied by scale. A result above maxValue is an error.
func (r *Row) Amount(name string, scale, maxValue float64) float64 {
	x := r.Number(name) * scale
	if x > maxValue {
		r.Fail(name, fmt.Sprintf("at most %g", maxValue/scale))
		return 0
	}
	return x
}

// Seconds parses a duration in seconds.
func (r *Row) Seconds(name string) time.Duration {
	d, ok := Seconds(r.Raw(name))
	if !ok {
		r.Fail(name, WantSeconds)
	}
	return d
}

// Flag parses 0 or 1 as a bool. It is false if the file lacks the column.
func (r *Row) Flag(name string) bool { return r.Has(name) && r.Count(name, 0, 1) == 1 }

// Denies reports whether the field is 0. It returns false if the file lacks the column.
func (r *Row) Denies(name string) bool { return r.Has(name) && !r.Flag(name) }

// List splits the column called name at sep, and drops repeated values.
func (r *Row) List(name, sep string) []string {
	var names []string
	for s := range strings.SplitSeq(r.Raw(name), sep) {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(names, s) {
			names = append(names, strings.Clone(s))
		}
	}
	return names
}

// An Observed is a job of a history: its submission, start and end.
type Observed struct {
	Arrival   workload.Arrival
	Nodes     int       // number of nodes that the job ran on; 0: unknown
	Submitted time.Time // time from which the job could start
	Admitted  time.Time // time at which its queue admitted the job; zero: unknown
	Started   time.Time // time at which the job had all its GPUs; zero: unknown
	Ended     time.Time // time at which the job released its GPUs; zero: not ended, or unknown
}

// Waited calls Options.Wait with the wait of the job, if its start is known.
func (o Options) Waited(job *Observed) {
	if o.Wait != nil && !job.Started.IsZero() {
		o.Wait(max(0, job.Started.Sub(job.Submitted)))
	}
}

// Left returns when the job released its GPUs: its end or, if it has not ended, the last recorded time.
func (o *Observed) Left() time.Time {
	if o.Ended.IsZero() {
		return o.Started.Add(o.Arrival.Duration)
	}
	return o.Ended
}

// Limits of times.
const (
	MaxSeconds  = 9e9 // limit of time.Duration
	FirstYear   = 1971
	LastYear    = 2250 // time.Duration since 1970 ends in 2262
	WantSeconds = "seconds of at least 0 and at most 9e9"
)

// Seconds parses a number of seconds from 0 to 9e9, exact to the nanosecond.
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

// FormatSeconds writes a duration of at least 0 as an exact decimal number of seconds, for Seconds.
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
