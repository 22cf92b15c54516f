package slurm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// endless is the assumed duration, in seconds, of a job without a time limit: a year.
const endless = 365 * 24 * 3600

func (l *log) limitOf(r *parse.Row, at *places) int64 {
	text := r.At(at.limitRaw)
	column := "timelimitraw"
	if text == "" {
		text, column = r.At(at.limit), "timelimit"
	}
	switch strings.ToUpper(text) {
	case "":
		return 0
	case "PARTITION_LIMIT":
		l.o.Summary.Note("rows with the time limit of their partition, which the log does not state: limit unknown")
		return 0
	case "UNLIMITED", infinite, noValue:
		return endless
	}
	if column == "timelimit" {
		return l.clock(r, column, text)
	}
	return minutes(int64(r.Count(column, 0, parse.MaxCount)))
}

func minutes(n int64) int64 { return min(60*n, endless) }

func priorityOf(r *parse.Row, text string) int64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		r.Fail("priority", fmt.Sprintf("a whole number from 0 to %d", uint32(lastSecond)))
	}
	return int64(n)
}

func (l *log) clock(r *parse.Row, column, text string) int64 {
	seconds, want := l.clocks.of(text, parseClock)
	if want != "" {
		r.Fail(column, want)
	}
	return seconds
}

func parseClock(text string) (seconds int64, want string) {
	days, rest, ok := strings.Cut(text, "-")
	if !ok {
		days, rest = "0", days
	}
	total, err := strconv.ParseUint(days, 10, 16)
	parts := strings.Split(rest, ":")
	for i, size := range []uint64{24, 60, 60} {
		i -= 3 - len(parts) // hours may be missing
		var n uint64
		if i >= 0 && i < len(parts) && err == nil {
			n, err = strconv.ParseUint(parts[i], 10, 16)
		}
		total = total*size + n
	}
	if err != nil || len(parts) < 2 || len(parts) > 3 {
		return 0, "a time like 1-02:03:04"
	}
	return int64(total), ""
}

// Differences between elapsed time and start to end, in seconds.
const (
	rounding = 60
	hour     = 3600
	aDay     = 24 * hour
	aWeek    = 7 * aDay
)

// suspend counts the time of suspensions as running time, because a suspended job keeps its GPUs (Slurm's
// gres.html). Slurm's elapsed time leaves it out.
func (r *record) suspend() {
	out := r.ran() - r.elapsed
	if r.suspended = stateOf(r.state) == "SUSPENDED"; r.elapsed == 0 || out <= rounding {
		return
	}
	if r.local && out >= hour-rounding && out <= hour+rounding && overChange(r.start, r.end) {
		return
	}
	r.elapsed, r.suspended = r.ran(), true
}

// overChange reports whether the time from start to end has a Sunday from 00:00 to 04:00, when local times
// change between summer and winter.
func overChange(start, end int64) bool {
	const firstSunday = 3 * aDay // of 1970
	sunday := end - (end-firstSunday)%aWeek
	return start <= sunday+4*hour
}
