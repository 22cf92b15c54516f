package slurm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// A record is one row: one run of a job. Its texts are valid until the next row.
type record struct {
	id                                key
	step                              bool
	tasks                             int // of an array that has not started; 0: not such a row
	cluster                           string
	name, user, partition, qos, state string
	reason                            string
	submit, eligible, start, end      int64 // seconds since 1970; 0: unknown
	elapsed, limit                    int64 // seconds; elapsed with suspensions; limit 0: unknown
	suspended                         bool
	priority                          int64 // 0: unknown
	reserved                          bool  // ran in a reservation
	asked, had                        resourceList
	local                             bool // the times have no zone
}

// A key is the name of a job: 7, 7_1 of an array, 7+1 of a heterogeneous job.
type key struct {
	number  uint64 // MIT Supercloud's have 14 digits
	part    uint32 // 0: none; 1 + task of an array; heterogeneous + component
	cluster uint16
	use     uint16 // 1 for the second job with this number, and so on
}

const heterogeneous = 1 << 31

func (k key) String() string {
	switch {
	case k.part == 0:
		return strconv.FormatUint(k.number, 10)
	case k.part >= heterogeneous:
		return fmt.Sprintf("%d+%d", k.number, k.part-heterogeneous)
	}
	return fmt.Sprintf("%d_%d", k.number, k.part-1)
}

// jobID matches names of jobs and steps. Arrays without a started task look like 6_[1-3].
var jobID = regexp.MustCompile(`^([0-9]+)(?:([_+])([0-9]+|\[[0-9,%:-]*(?:\.\.\.)?\]?))?(\.[A-Za-z0-9_+]+)?$`)

func keyOf(text string) (k key, step, ok bool) {
	if number, err := strconv.ParseUint(text, 10, 64); err == nil { // most are
		return key{number: number}, false, true
	}
	m := jobID.FindStringSubmatch(text)
	if m == nil {
		return k, false, false
	}
	number, err := strconv.ParseUint(m[1], 10, 64)
	k.number = number
	if err != nil || m[3] == "" || m[3][0] == '[' {
		return k, m[4] != "", err == nil
	}
	part, err := strconv.ParseUint(m[3], 10, 30)
	if k.part = uint32(part) + 1; m[2] == "+" {
		k.part = heterogeneous + uint32(part)
	}
	return k, m[4] != "", err == nil
}

func (l *log) record(r *parse.Row, at *places) *record {
	rec := &l.last
	*rec = record{
		name: r.At(at.name), user: r.At(at.user),
		partition: r.At(at.partition), qos: r.At(at.qos), state: stateName(r.At(at.state)), cluster: r.At(at.cluster),
		reason: r.At(at.reason), reserved: r.At(at.reservation) != "",
	}
	var ok bool
	if rec.id, rec.step, ok = keyOf(r.At(at.id)); !ok {
		r.Fail("jobid", "a job like 7, 7_1 or 7+1")
	}
	if rec.step || r.Err != nil {
		return rec
	}
	rec.tasks = waitingTasks(r.At(at.id))
	l.times(r, at, rec)
	rec.limit, rec.priority = l.limitOf(r, at), priorityOf(r, r.At(at.priority))
	l.resources(r, at, rec)
	return rec
}

func (l *log) times(r *parse.Row, at *places, rec *record) {
	for i, c := range [...]struct {
		name string
		at   int
		to   *int64
	}{{"submit", at.submit, &rec.submit}, {"eligible", at.eligible, &rec.eligible}, {"start", at.start, &rec.start}, {"end", at.end, &rec.end}} {
		t, local, ok := l.instant(r.At(c.at), &l.days[i])
		if !ok {
			r.Fail(c.name, "a time like 2020-08-31T23:59:00, with a zone like +0200 if it is not local, or seconds since 1970")
		}
		*c.to, rec.local = t, rec.local || local
	}
	if rec.submit == 0 {
		r.Fail("submit", "a time like 2020-08-31T23:59:00")
	}
	backwards := rec.start > 0 && rec.end > 0 && rec.end < rec.start
	switch {
	case at.elapsedRaw >= 0:
		rec.elapsed = int64(r.Seconds("elapsedraw") / time.Second)
	case at.elapsed >= 0:
		rec.elapsed = l.clock(r, "elapsed", r.At(at.elapsed))
	default:
		rec.elapsed = rec.ran()
	}
	if backwards && (rec.elapsed > 0 || at.elapsedRaw < 0 && at.elapsed < 0) {
		r.Fail("end", "a time that is not before the start")
	}
	rec.suspend()
}

func (r *record) arrived() int64 {
	if r.start > 0 && r.eligible > r.start {
		return r.submit
	}
	return max(r.submit, r.eligible)
}

func (r *record) started() int64 {
	if r.start == 0 && r.end > 0 {
		return max(r.submit, r.end-r.elapsed)
	}
	return r.start
}

func (r *record) ran() int64 {
	if r.start == 0 || r.end == 0 {
		return 0
	}
	return max(0, r.end-r.start)
}

// The last time that fits 32 bits.
const lastSecond = 1<<32 - 1 // in 2106

type day struct {
	text  string // like 2020-08-31; empty: none
	start int64  // in UTC, seconds since 1970
}

// instant parses a time with the log's zone, fast for the cached date in UTC.
func (l *log) instant(text string, last *day) (at int64, local, ok bool) {
	const date = len("2020-08-31")
	if l.zone != time.UTC || len(text) != len("2020-08-31T23:59:00") {
		return instant(text, l.zone)
	}
	if text[:date] == last.text {
		if of, ok := ofDay(text[date:]); ok {
			return last.start + of, true, true
		}
	}
	at, local, ok = instant(text, l.zone)
	if of, plain := ofDay(text[date:]); ok && local && plain && at-of > firstSecond && at-of < lastSecond-24*3600 {
		*last = day{strings.Clone(text[:date]), at - of}
	}
	return at, local, ok
}

func ofDay(text string) (int64, bool) {
	if text[0] != 'T' || text[3] != ':' || text[6] != ':' {
		return 0, false
	}
	of := 0
	for _, part := range [...]struct{ at, most int }{{1, 24}, {4, 60}, {7, 60}} {
		tens, ones := text[part.at]-'0', text[part.at+1]-'0'
		n := 10*int(tens) + int(ones)
		if tens > 9 || ones > 9 || n >= part.most {
			return 0, false
		}
		of = 60*of + n
	}
	return int64(of), true
}

// instant parses a time of sacct, local or with a zone, in seconds since 1970; 0: none.
func instant(text string, zone *time.Location) (at int64, local, ok bool) {
	switch text {
	case "", "0", "Unknown", "None", "N/A":
		return 0, false, true
	}
	if t, ok := plain(text, zone); ok { // most are
		return t.Unix(), true, t.Unix() >= firstSecond && t.Unix() <= lastSecond
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, false, n >= firstSecond && n <= lastSecond
	}
	t, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
	if local = err == nil; !local {
		if t, err = time.Parse("2006-01-02T15:04:05Z0700", text); err != nil {
			t, err = time.Parse(time.RFC3339, text)
		}
	}
	return t.Unix(), local, err == nil && t.Unix() >= firstSecond && t.Unix() <= lastSecond
}

// plain parses 2020-08-31T23:59:00 like time.ParseInLocation, in a third of the time.
func plain(text string, zone *time.Location) (time.Time, bool) {
	const form = "0000-00-00T00:00:00"
	if len(text) != len(form) {
		return time.Time{}, false
	}
	for i := range len(form) {
		if c := text[i]; form[i] == '0' && (c < '0' || c > '9') || form[i] != '0' && c != form[i] {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return 10*int(text[i]-'0') + int(text[i+1]-'0') }
	year, month, day := 100*two(0)+two(2), time.Month(two(5)), two(8)
	hour, minute, second := two(11), two(14), two(17)
	t := time.Date(year, month, day, hour, minute, second, 0, zone)
	return t, month >= 1 && month <= 12 && day >= 1 && day <= days(year, month) && hour < 24 && minute < 60 && second < 60
}

func days(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

const firstSecond = 365 * 24 * 3600
