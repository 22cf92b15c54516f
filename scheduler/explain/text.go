package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// WriteDetails prints the prices, weights and speeds behind the reasons, if any.
func (s *Story) WriteDetails(w io.Writer) error {
	b := bufio.NewWriter(w)
	row := func(key, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %-11s %s\n", key, value)
		}
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
	if err := b.Flush(); err != nil {
		return fmt.Errorf("explain: write: %w", err)
	}
	return nil
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
// next, and the note.
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

func writeRow(b *bufio.Writer, key, value string) { fmt.Fprintf(b, "  %-8s %s\n", key, value) }

func (s *Story) moment(b *bufio.Writer, m *Moment) {
	sentence := strings.ReplaceAll(m.Sentence, "\n", "\n  ") // it may end with lines of the job's output
	fmt.Fprintf(b, "%s at %s, under %s\n\n%s\n\n", s.Job, clock(time.Duration(m.At)), s.Policy, sentence)
	row := func(key, value string) { writeRow(b, key, value) }
	row("asked", s.Asked)
	if m.Phase == notSubmitted { // the sentence says when it was
		row("cluster", m.Cluster.text())
		return
	}
	row("phase", m.Phase)
	if m.Since != nil {
		row("since", clock(time.Duration(*m.Since))+", "+passed(time.Duration(*m.Since), time.Duration(m.At))+" ago")
	}
	if !m.Ended {
		row("holds", m.Holds.text())
	}
	if m.Ended {
		if m.Before != nil {
			row("held", both(m.Before.allocation()))
		}
		return
	}
	if m.Before != nil && (m.went() != "" || m.Holds.allocation() != m.Before.allocation()) {
		row("before", both(m.Before.allocation())+m.went())
	}
	row("cluster", m.Cluster.text())
}

func (m *Moment) went() string {
	switch {
	case m.Lost != "":
		return ", " + m.Lost
	case len(m.Takers) == 0:
		return ""
	}
	if t := m.Takers[0]; m.Before.GPUs == 1 && m.Before.Also == nil {
		return "; " + t.Name + " " + tookBy(t.Reason) + " it"
	}
	return takenBy(m.Takers, "them")
}

func (m *Moment) prediction(row func(key, value string)) {
	if m.Starts > 0 {
		row("lost", fixed(m.LostHours)+" GPU-hours to "+starts(m.Starts-1))
	}
	if m.Racks != "" {
		row("racks", m.Racks)
	}
	if m.Unblock != "" {
		row("unblock", m.Unblock)
	}
	if m.Start != nil {
		row("start", m.Start.text(calibration.Start))
	}
	if m.End != nil {
		row("end", m.ends())
	}
	if m.Next != "" && m.Phase != notSubmitted {
		row("next", m.Next)
	}
}

// ends returns the row of the end. If its range prints like the range of the start, it has the time between the
// medians instead.
func (m *Moment) ends() string {
	phase := calibration.RunningEnd
	if m.Holds == nil {
		phase = calibration.WaitingEnd
	}
	a, b := m.Start, m.End
	if a == nil || a.Unknown != "" || b.Unknown != "" || a.Open || b.Open || a.Share == 0 || b.Share == 0 ||
		rough(a.Early) != rough(b.Early) || rough(a.Late) != rough(b.Late) || b.Likely <= a.Likely {
		return b.text(phase)
	}
	return "about " + rough(b.Likely-a.Likely) + " after the start, median " + rough(b.Likely) + b.record(phase)
}

func rough(d journal.Seconds) string { return printable.Rough(time.Duration(d)) }

// StartText returns the estimate as a sentence about the start of a job.
func (e *Expected) StartText() string { return e.text(calibration.Start) }

// text returns "in 10 min to 25 min, median 14 min (80 % interval; 30 of the last 40 end estimates for running
// jobs were right)".
func (e *Expected) text(p calibration.Phase) string {
	early, likely, late := rough(e.Early), rough(e.Likely), rough(e.Late)
	switch {
	case strings.HasPrefix(e.Unknown, "unreliable: "):
		return e.Unknown
	case e.Unknown != "":
		return "unknown: " + e.Unknown
	case e.Share == 0:
		return "now"
	case e.Open:
		return "in " + early + " at the earliest; how much later is not known"
	case early == late:
		return "in " + early + e.record(p)
	}
	return fmt.Sprintf("in %s to %s, median %s%s", early, late, likely, e.record(p))
}

func (e *Expected) record(p calibration.Phase) string {
	if e.Of == 0 {
		return fmt.Sprintf(" (%.0f %% interval, not tested in this run yet)", 100*e.Share)
	}
	return fmt.Sprintf(" (%.0f %% interval; %s)", 100*e.Share, p.TrackRecord(e.Held, e.Of))
}

func (v *View) text() string {
	parts := make([]string, 0, len(v.Types)+1)
	for _, t := range v.Types {
		var of []string
		if t.GPUs > 0 {
			of = append(of, fmt.Sprintf("%d of %s free", t.Free, count(t.GPUs, noun(t.Type))))
		}
		if t.Starting > 0 {
			of = append(of, fmt.Sprintf("%d rented and not up yet", t.Starting))
		}
		if t.Refused {
			of = append(of, "none left at the provider")
		}
		if len(of) > 0 {
			parts = append(parts, string(t.Type)+" "+strings.Join(of, ", "))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "no GPUs now")
	}
	parts = append(parts, fmt.Sprintf("%s GPUs, %s", hold(v.Running), wait(v.Waiting)))
	return strings.Join(parts, "; ")
}

func noun(t cluster.GPUType) string {
	if t == "cpu" {
		return "slot"
	}
	return "GPU"
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

func hold(n int) string {
	if n == 1 {
		return "1 job holds"
	}
	return fmt.Sprintf("%d jobs hold", n)
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
