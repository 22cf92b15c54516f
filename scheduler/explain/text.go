package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// WriteDetails prints what WriteText leaves out: the exact times and GPUs, and the prices, weights and speeds behind
// the reasons.
func (s *Story) WriteDetails(w io.Writer) error {
	b := bufio.NewWriter(w)
	row := filled(func(key, value string) { fmt.Fprintf(b, "  %-11s %s\n", key, value) })
	if m := s.Moment; m != nil && m.Phase != notSubmitted {
		m.exact(row)
	}
	if m := s.Moment; m != nil && !m.Ended {
		row("reason", m.Details)
		if m.Best != nil {
			row("best", amount(m.Best.allocation().Configuration)+" at today's prices")
		}
		row("prices", m.Cluster.prices())
		row("weight", m.Weight)
	}
	for _, c := range s.Changes {
		row(clock(time.Duration(c.At)), c.Details)
	}
	return flushed(b)
}

func (m *Moment) exact(row func(key, value string)) {
	row("at", clock(time.Duration(m.At))+" after the start of the recording")
	row("phase", m.Phase)
	if m.Since != nil {
		row("since", clock(time.Duration(*m.Since))+", "+passed(time.Duration(*m.Since), time.Duration(m.At))+" ago")
	}
	if !m.Ended {
		row("holds", m.Holds.text())
	}
	if m.Starts > 0 && !m.Ended {
		row("overhead", fixed(m.LostHours)+" GPU-hours for "+starts(m.Starts-1))
	}
}

// WriteText prints the story as plain text, one line for each change. It omits the lines of WriteDetails.
func (s *Story) WriteText(w io.Writer) error {
	if err := s.WriteState(w); err != nil {
		return err
	}
	return s.WriteForecast(w)
}

// WriteState prints the first part of WriteText: the state of the job, or its whole life, as recorded in the journal.
func (s *Story) WriteState(w io.Writer) error {
	b := bufio.NewWriter(w)
	if m := s.Moment; m != nil {
		s.moment(b, m)
	} else {
		s.life(b)
	}
	return flushed(b)
}

// WriteForecast prints the second part of WriteText: what would help the job, when it will start and end, what happened
// next, and Story.Note.
func (s *Story) WriteForecast(w io.Writer) error {
	b := bufio.NewWriter(w)
	if m := s.Moment; m != nil && !m.Ended {
		m.prediction(func(key, value string) { writeRow(b, key, value) })
	}
	if s.Note != "" {
		fmt.Fprintf(b, "\nNote: %s\n", s.Note)
	}
	return flushed(b)
}

func flushed(b *bufio.Writer) error {
	if err := b.Flush(); err != nil {
		return fmt.Errorf("explain: write: %w", err)
	}
	return nil
}

func filled(row func(key, value string)) func(key, value string) {
	return func(key, value string) {
		if value != "" {
			row(key, value)
		}
	}
}

func writeRow(b *bufio.Writer, key, value string) { fmt.Fprintf(b, "  %-10s %s\n", key, value) }

func (s *Story) moment(b *bufio.Writer, m *Moment) {
	when := ""
	if !m.Live {
		when = ", " + span(time.Duration(m.At)) + " after the start of the recording"
	}
	sentence := strings.ReplaceAll(m.Sentence, "\n", "\n  ") // it may end with lines of the job's output
	fmt.Fprintf(b, "%s%s, under %s\n\n%s\n\n", s.Job, when, s.Policy, sentence)
	row := filled(func(key, value string) { writeRow(b, key, value) })
	row("asked", s.Asked)
	if m.Ended {
		if m.Before != nil {
			row("held", both(m.Before.allocation()))
		}
		return
	}
	if m.Holds != nil && m.Holds.CPUs+float64(m.Holds.Memory) > 0 {
		row("holds", m.Holds.text())
	}
	row("changed", m.changed)
	row("before", m.before())
	row("cluster", m.Cluster.text())
}

func (m *Moment) before() string {
	if m.Before == nil || m.Holds == nil || !m.resumed {
		return ""
	}
	return both(m.Before.allocation()) + m.went()
}

func (m *Moment) went() string {
	switch {
	case m.lostAgo != "":
		return ", " + m.lostAgo
	case len(m.Takers) == 0:
		return ""
	}
	if t := m.Takers[0]; m.Before.GPUs == 1 && m.Before.Also == nil {
		return "; " + t.Name + " " + tookBy(t.Reason) + " it"
	}
	return takenBy(m.Takers, "them")
}

func (m *Moment) prediction(row func(key, value string)) {
	row = filled(row)
	row("racks", m.Racks)
	if why := m.unforeseen(); why != "" {
		row("forecast", "unknown: "+why)
	} else {
		m.expected(row)
	}
	if m.Phase != notSubmitted {
		row("afterwards", m.Next)
	}
}

func (m *Moment) unforeseen() string {
	if m.Start == nil || m.End == nil || m.Start.Unknown != m.End.Unknown || strings.HasPrefix(m.Start.Unknown, calibration.NotReliable) {
		return ""
	}
	if m.Unblock != "" && m.Unblock != "unknown: "+m.Start.Unknown {
		return ""
	}
	return m.Start.Unknown
}

func (m *Moment) expected(row func(key, value string)) {
	row("unblock", m.Unblock)
	if m.Start != nil {
		row("start", m.Start.Text())
	}
	if m.End != nil {
		row("end", m.ends())
	}
}

// ends returns the row of the end, relative to the start if both ranges print alike.
func (m *Moment) ends() string {
	a, b := m.Start, m.End
	if a == nil || a.Unknown != "" || b.Unknown != "" || a.Open || b.Open || a.Share == 0 || b.Share == 0 ||
		rough(a.Early) != rough(b.Early) || rough(a.Late) != rough(b.Late) || b.Likely <= a.Likely {
		return b.Text()
	}
	return "about " + rough(b.Likely-a.Likely) + " after the start" + b.record(false)
}

func rough(d journal.Seconds) string { return printable.Rough(time.Duration(d)) }

// Text returns "in 10 to 25 min, median 14 min (30 of the last 40 estimates were right)".
func (e *Expected) Text() string {
	early, late := rough(e.Early), rough(e.Late)
	switch {
	case strings.HasPrefix(e.Unknown, calibration.NotReliable):
		return e.Unknown
	case e.Unknown != "":
		return "unknown: " + e.Unknown
	case e.Share == 0:
		return "now"
	case e.Open:
		return "in " + early + " at the earliest; how much later is not known"
	case early == late:
		return "in about " + late + e.record(false)
	}
	return between(early, late) + e.median() + e.record(true)
}

// between returns "in 10 to 25 min", "in 50 s to 2 min" or "within 2 min".
func between(early, late string) string {
	number, unit, _ := strings.Cut(early, " ")
	switch {
	case number == "0":
		return "within " + late
	case strings.HasSuffix(late, " "+unit):
		return "in " + number + " to " + late
	}
	return "in " + early + " to " + late
}

func (e *Expected) median() string {
	likely := rough(e.Likely)
	if likely == rough(e.Early) || likely == rough(e.Late) {
		return ""
	}
	return ", median " + likely
}

// enoughTested is the number of tested estimates from which their record replaces the probability.
const enoughTested = 10

// record returns " (80 % likely; 4 of the last 5 estimates were right)". An estimate that is not a range has no
// probability. A long record stands alone, because it may contradict the probability.
func (e *Expected) record(isRange bool) string {
	record := "not tested in this run yet"
	if e.Of > 0 {
		record = calibration.WereRight(e.Held, e.Of)
	}
	if isRange && e.Of < enoughTested {
		record = fmt.Sprintf("%.0f %% likely; ", 100*e.Share) + record
	}
	return " (" + record + ")"
}

func (v *View) text() string {
	parts := make([]string, 0, len(v.Types)+1)
	for _, t := range v.Types {
		var of []string
		if t.GPUs > 0 {
			of = append(of, fmt.Sprintf("%d of %s free", t.Free, gpus(t.GPUs, t.Type)))
		}
		if t.Starting > 0 {
			of = append(of, strings.Replace(gpus(t.Starting, t.Type), " ", " rented ", 1)+" not up yet")
		}
		if t.Refused {
			of = append(of, "no more "+slots(t.Type)+" at the provider")
		}
		if len(of) > 0 {
			parts = append(parts, strings.Join(of, ", "))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no GPUs now")
	}
	return strings.Join(parts, ", ") + "; " + jobsRun(v.Running) + ", " + wait(v.Waiting)
}

func (v *View) prices() string {
	var parts []string
	for _, t := range v.Types {
		var of []string
		if t.Price != nil && (*t.Price != 0 || t.CPU == 0 && t.Memory == 0) {
			of = append(of, number(*t.Price))
		}
		if t.CPU != 0 || t.Memory != 0 {
			of = append(of, "a core "+number(t.CPU)+" and a GB of memory "+number(t.Memory))
		}
		if len(of) > 0 {
			parts = append(parts, string(t.Type)+" "+strings.Join(of, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

func jobsRun(n int) string {
	if n == 1 {
		return "1 job runs"
	}
	return fmt.Sprintf("%d jobs run", n)
}

func wait(n int) string {
	if n == 1 {
		return "1 waits"
	}
	return fmt.Sprintf("%d wait", n)
}

func (s *Story) life(b *bufio.Writer) {
	fmt.Fprintf(b, "%s under %s\n\n", s.Job, s.Policy)
	for _, c := range s.Changes {
		fmt.Fprintf(b, "  %11s  %s\n", clock(time.Duration(c.At)), c.Text)
	}
	t := s.Totals
	switch {
	case t.Ended != nil:
		fmt.Fprintf(b, "\n%s after %s: ", capital(t.Outcome), passed(time.Duration(t.Submitted), time.Duration(*t.Ended)))
	case t.Outcome != "":
		fmt.Fprintf(b, "\n%s before the recording begins: ", capital(t.Outcome))
	default:
		fmt.Fprint(b, "\nNot over when the recording ends: ")
	}
	fmt.Fprintf(b, "%s profiling, %s waiting, %s with GPUs.\n",
		span(time.Duration(t.Profiling)), span(time.Duration(t.Waiting)), span(time.Duration(t.Holding)))
	fmt.Fprintf(b, "It held %s GPU-hours; %s of them went into %s.\n", fixed(t.GPUHours), fixed(t.LostHours), starts(t.Restarts))
}

func starts(restarts int) string {
	if restarts == 0 {
		return "its start"
	}
	return "its start and " + count(restarts, "restart")
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
