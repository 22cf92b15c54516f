package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteText writes the story as plain text, one line for each change.
func (s *Story) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	if m := s.Moment; m != nil {
		s.moment(b, m)
	} else {
		s.life(b)
	}
	if s.Note != "" {
		fmt.Fprintf(b, "\nNote: %s\n", s.Note)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("explain: write: %w", err)
	}
	return nil
}

func (s *Story) moment(b *bufio.Writer, m *Moment) {
	sentence := strings.ReplaceAll(m.Sentence, "\n", "\n  ") // the last lines of its output, perhaps
	fmt.Fprintf(b, "%s at %s, under %s\n\n%s\n\n", s.Job, clock(time.Duration(m.At)), s.Policy, sentence)
	row := func(key, value string) { fmt.Fprintf(b, "  %-8s %s\n", key, value) }
	row("asked", s.Asked)
	row("phase", m.Phase)
	if m.Since != nil {
		row("since", clock(time.Duration(*m.Since)))
	}
	if !m.Ended {
		row("holds", m.Holds.text())
	}
	if m.Before != nil {
		row("before", both(m.Before.allocation())+m.went())
	}
	if m.Ended {
		return
	}
	row("cluster", m.Cluster.text())
	m.prediction(row)
}

// went names those who got GPUs of Before, if any did, or says how they were lost.
func (m *Moment) went() string {
	switch {
	case m.Lost != "":
		return ", " + m.Lost
	case len(m.Takers) == 0:
		return ""
	}
	return toWhom(m.Takers)
}

// prediction writes rows for the best configuration, the hours lost and the expected times. It
// writes no row for what is not known.
func (m *Moment) prediction(row func(key, value string)) {
	if m.Best != nil {
		row("best", amount(m.Best.allocation().Configuration)+" at today's prices")
	}
	if m.Starts > 0 {
		row("lost", fmt.Sprintf("%s GPU-hours to starting and %s", fixed(m.LostHours), count(m.Starts-1, "restart")))
	}
	if m.Weight != "" {
		row("weight", m.Weight)
	}
	if m.Racks != "" {
		row("racks", m.Racks)
	}
	if m.Unblock != "" {
		row("unblock", m.Unblock)
	}
	if m.Start != nil {
		row("start", m.Start.text())
	}
	if m.End != nil {
		row("end", m.End.text())
	}
	if m.Next != "" {
		row("next", m.Next)
	}
}

// text returns "in 10m00s to 25m00s, likely 14m00s".
func (e *Expected) text() string {
	if e.Unknown != "" {
		return "not known: " + e.Unknown
	}
	early, likely, late := time.Duration(e.Early), time.Duration(e.Likely), time.Duration(e.Late)
	text := "in " + span(early)
	switch {
	case e.Share == 0:
		return "now"
	case e.Open:
		text += " or later, perhaps after " + span(late)
	case late.Round(time.Second) > early.Round(time.Second):
		text += " to " + span(late)
	}
	return fmt.Sprintf("%s (%.0f %%), median %s%s", text, 100*e.Share, span(likely), e.record())
}

// record says how many of the last ranges of this kind held.
func (e *Expected) record() string {
	if e.Of == 0 {
		return "; no such range of this run could be tested yet"
	}
	return fmt.Sprintf("; of the last %d such ranges %.0f %% held", e.Of, 100*float64(e.Held)/float64(e.Of))
}

func (v *View) text() string {
	parts := make([]string, 0, len(v.Types)+1)
	for _, t := range v.Types {
		one := fmt.Sprintf("%s %d of %d GPUs free", t.Type, t.Free, t.GPUs)
		if t.Starting > 0 {
			one += fmt.Sprintf(", %d rented on their way", t.Starting)
		}
		if t.Refused {
			one += ", more not to be had"
		}
		if t.Price != nil && (*t.Price != 0 || t.CPU == 0 && t.Memory == 0) {
			one += ", price " + number(*t.Price)
		}
		if t.CPU != 0 || t.Memory != 0 {
			one += ", price of a core " + number(t.CPU) + " and of a GB of memory " + number(t.Memory)
		}
		parts = append(parts, one)
	}
	parts = append(parts, fmt.Sprintf("%s GPUs, %s", holders(v.Running), waiters(v.Waiting)))
	return strings.Join(parts, "; ")
}

func holders(n int) string {
	if n == 1 {
		return "1 job holds"
	}
	return fmt.Sprintf("%d jobs hold", n)
}

func waiters(n int) string {
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
	fmt.Fprintf(b, "It held %s GPU-hours, of which %s went into starting and %s.\n",
		fixed(t.GPUHours), fixed(t.LostHours), count(t.Restarts, "restart"))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
