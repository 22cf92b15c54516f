package trace

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

const mappedFormat = "mapped"

func mapped(m *parse.Mapping) Format {
	read := func(r io.Reader, o parse.Options) recordedSeq { return readMapped(r, o, m) }
	return Format{
		Name: mappedFormat, Doc: "a table, by a mapping of its columns",
		Read: func(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
			return parse.SinceFirst(onlyArrivals(read(r, o), o), o)
		},
		history: func(b *bufio.Reader, o parse.Options) (*History, error) {
			return recordedHistory(mappedFormat, read(b, o), o, true)
		},
	}
}

type mappedRow struct {
	*parse.Row
	m *parse.Mapping
}

func readMapped(r io.Reader, o parse.Options, m *parse.Mapping) recordedSeq {
	t := parse.Table{Format: mappedFormat, Comma: m.Comma, ID: m.Columns["id"].Name}
	for _, c := range m.Columns {
		t.Required = append(t.Required, c.Name)
	}
	return func(yield func(parse.Observed, error) bool) {
		var now parse.Observed
		t.Arrival = func(r *parse.Row) (a workload.Arrival, drop string) {
			now, drop = mappedRow{r, m}.job()
			return now.Arrival, drop
		}
		for a, err := range t.Read(r, o) {
			now.Arrival = a
			if !yield(now, err) {
				return
			}
		}
	}
}

func (r mappedRow) text(field string) string {
	if !r.m.Has(field) {
		return ""
	}
	return r.Word(r.m.Columns[field].Name)
}

func (r mappedRow) unknown(field string) bool {
	switch strings.ToLower(r.text(field)) {
	case "", "-", "none", "null", "nan", "nat", "n/a", "na", "unknown":
		return true
	}
	return false
}

func (r mappedRow) fail(field, want string) { r.Fail(r.m.Columns[field].Name, want) }

func (r mappedRow) job() (parse.Observed, string) {
	a := workload.Arrival{Spec: job.Spec{
		ID: numbered(r.Index), Name: r.text("name"), User: r.text("user"), Queue: r.text("queue"), Adaptivity: job.Rigid,
		GPUs: r.gpus(),
	}}
	if r.m.Has("id") {
		a.Spec.ID = job.ID(r.ID(r.m.Columns["id"].Name))
	}
	if t := r.text("gpu-type"); !r.unknown("gpu-type") {
		a.Spec.GPUTypes = []cluster.GPUType{cluster.GPUType(t)}
	}
	if !r.unknown("cpus") {
		a.Spec.CPUs = r.Amount(r.m.Columns["cpus"].Name, 1, parse.MaxCount)
	}
	if !r.unknown("memory") {
		scale := map[string]float64{"": 1e9, "GB": 1e9, "MB": 1e6, "bytes": 1}[r.m.Columns["memory"].Unit]
		a.Spec.Memory = int64(r.Amount(r.m.Columns["memory"].Name, scale, 1<<60))
	}
	if !r.unknown("limit") {
		a.Spec.Target = r.span("limit").Seconds()
	}
	o := parse.Observed{Arrival: a, Nodes: r.count("nodes")}
	drop := r.times(&o)
	if drop == "" {
		drop = dropUnless(o.Arrival)
	}
	if state := r.text("state"); drop == "" && state != "" {
		r.O.Summary.Note("jobs with state " + state)
	}
	return o, drop
}

func (r mappedRow) count(field string) int {
	if r.unknown(field) {
		return 0
	}
	return r.Count(r.m.Columns[field].Name, 0, parse.MaxCount)
}

func (r mappedRow) gpus() int {
	if !r.m.Has("gpus") {
		each, nodes := r.count("gpus-per-node"), r.count("nodes")
		if each*nodes > parse.MaxCount {
			r.fail("gpus-per-node", fmt.Sprintf("at most %d GPUs in all", parse.MaxCount))
			return 0
		}
		return each * nodes
	}
	unit, each := r.m.Columns["gpus"].Unit, 1
	switch unit {
	case "percent":
		each = 100
	case "milli":
		each = 1000
	}
	if each == 1 {
		return r.count("gpus")
	}
	if r.unknown("gpus") {
		return 0
	}
	n := int(r.Amount(r.m.Columns["gpus"].Name, 1, float64(each)*parse.MaxCount))
	if n%each != 0 {
		r.O.Summary.Note("jobs with part of a GPU, counted as a whole GPU")
	}
	return (n + each - 1) / each
}

func (r mappedRow) times(o *parse.Observed) (drop string) {
	submit, submitted := r.instant("submit")
	start, started := r.instant("start")
	end, ended := r.instant("end")
	a := &o.Arrival
	switch {
	case r.Err != nil:
		return ""
	case r.m.Has("duration") && !r.unknown("duration"):
		a.Duration = r.span("duration")
	case r.m.Has("start") && !started:
		return "jobs that never started dropped"
	case started && ended && end < start:
		r.fail("end", "a time that is not before the start")
	case started && ended:
		a.Duration = end - start
	default:
		return "jobs without an end dropped"
	}
	zero := time.Unix(0, 0).UTC()
	switch {
	case !submitted && !started:
		r.fail("submit", "a time")
	case !submitted:
		r.O.Summary.Note(noteNoSubmission)
		a.At = start
	case started && start < submit:
		r.O.Summary.Note(noteEarlyStart)
		a.At = start
	default:
		a.At = submit
	}
	o.Submitted = zero.Add(a.At)
	if submitted && started {
		o.Started = zero.Add(start)
		o.Ended = o.Started.Add(a.Duration)
	} else {
		r.O.Summary.Note(noteNoStart)
	}
	return ""
}

func (r mappedRow) span(field string) time.Duration {
	c := r.m.Columns[field]
	unit := map[string]time.Duration{"": time.Second, "s": time.Second, "ms": time.Millisecond, "min": time.Minute, "h": time.Hour}[c.Unit]
	d, ok := clockSpan(r.Raw(c.Name))
	if c.Unit != "clock" {
		if ok {
			r.fail(field, "a number; for hours, minutes and seconds set the unit clock in the mapping")
			return 0
		}
		return time.Duration(math.Round(r.Amount(c.Name, unit.Seconds(), parse.MaxSeconds) * float64(time.Second)))
	}
	if !ok {
		r.fail(field, "a time like 1-02:03:04 or 02:03:04")
	}
	return d
}

func clockSpan(text string) (time.Duration, bool) {
	days, rest, ok := strings.Cut(text, "-")
	if !ok {
		days, rest = "0", text
	}
	total, err := strconv.ParseUint(days, 10, 16)
	parts := strings.Split(rest, ":")
	if err != nil || len(parts) != 3 {
		return 0, false
	}
	for i, limit := range []uint64{1 << 16, 60, 60} {
		n, err := strconv.ParseUint(parts[i], 10, 32)
		if err != nil || n >= limit {
			return 0, false
		}
		total = total*[]uint64{24, 60, 60}[i] + n
	}
	return time.Duration(total) * time.Second, true
}

func (r mappedRow) instant(field string) (at time.Duration, known bool) {
	c := r.m.Columns[field]
	text := r.text(field)
	if r.unknown(field) {
		return 0, false
	}
	if !slices.Contains([]string{"unix", "unix-ms", "seconds"}, c.Unit) {
		return r.date(c, text), true
	}
	d, ok := parse.Seconds(text)
	if c.Unit == "unix-ms" {
		n, err := strconv.ParseInt(text, 10, 64)
		d, ok = time.Duration(n)*time.Millisecond, err == nil && n >= 0 && n < parse.MaxSeconds*1000
	}
	switch {
	case !ok:
		r.fail(field, parse.WantSeconds)
		return 0, false
	case c.Unit == "seconds":
		return d, true
	case d == 0: // as databases write times that never came
		return 0, false
	}
	at, ok = parse.SinceStart(time.Unix(0, int64(d)).UTC(), r.O)
	if !ok {
		r.fail(field, "seconds since 1970; set unit seconds for the log's own zero, or unix-ms for milliseconds")
	}
	return at, true
}

// dates are the forms of calendar times without a pattern.
var dates = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z0700"}

func (r mappedRow) date(c parse.Column, text string) time.Duration {
	zone := r.O.Zone
	if zone == nil {
		zone = time.UTC
	}
	forms, local := dates, []string{"2006-01-02T15:04:05", time.DateTime}
	if layout := c.Layout(); layout != "" {
		forms, local = nil, []string{layout}
		if strings.HasSuffix(c.Unit, "ZZ") {
			forms, local = local, nil
		}
	}
	for _, form := range forms {
		if t, err := time.Parse(form, text); err == nil {
			return r.since(c, t)
		}
	}
	for _, form := range local {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			if r.O.Zone == nil {
				r.O.Summary.Note("times without a zone, read as UTC (set it with --zone)")
			}
			return r.since(c, t)
		}
	}
	r.Fail(c.Name, "a time like 2020-08-31 23:59:00; set the unit of the column in the mapping: unix, unix-ms, seconds, or a pattern like DD.MM.YYYY hh:mm")
	return 0
}

func (r mappedRow) since(c parse.Column, t time.Time) time.Duration {
	at, ok := parse.SinceStart(t, r.O)
	if !ok {
		r.Fail(c.Name, fmt.Sprintf("a time from %d to %d", parse.FirstYear, parse.LastYear))
	}
	return at
}
