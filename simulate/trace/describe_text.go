package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
)

const (
	maxRows  = 10 // of a printed table; longer tables are merged or cut, so that a description fits a screen
	maxNames = 4
	barWidth = 40
)

// String returns the description as text, unused rows first.
func (d *Description) String() string {
	var b strings.Builder
	if d.Summary != nil {
		b.WriteString(d.Summary.String())
	}
	span := d.Last - d.First
	if d.Jobs > 0 {
		d.writeDates(&b, span)
	}
	fmt.Fprintf(&b, "jobs         %d", d.Jobs)
	if span > 0 {
		fmt.Fprintf(&b, ", %.1f per hour, %d in the busiest hour", float64(d.Jobs)/span.Hours(), d.busiest())
	}
	if d.Cancelled > 0 {
		fmt.Fprintf(&b, ", %d cancelled", d.Cancelled)
	}
	fmt.Fprintln(&b)
	if d.Users > 0 || d.Queues > 0 {
		fmt.Fprintf(&b, "from         %s, %s\n", printable.Count(d.Users, "user"), printable.Count(d.Queues, "queue"))
	}
	writeNames(&b, "GPU types", d.GPUTypes)
	if parts := d.parts(); parts > 0 {
		fmt.Fprintf(&b, "GPU parts    %d, see above\n", parts)
	}
	d.writeSizes(&b)
	d.writeWaits(&b)
	d.writeDemand(&b, span)
	writeNames(&b, "adaptivity", d.Adaptivity)
	writeNames(&b, "application", d.Applications)
	d.writeHours(&b)
	return b.String()
}

func (d *Description) writeDates(b *strings.Builder, span time.Duration) {
	if d.Summary == nil || d.Summary.Began.IsZero() {
		fmt.Fprintf(b, "submitted    %s to %s after the trace begins\n", short(d.First), short(d.Last))
		return
	}
	const form = "2006-01-02 15:04"
	zero := d.Summary.Began.UTC()
	fmt.Fprintf(b, "submitted    %s to %s UTC, %s\n", zero.Add(d.First).Format(form), zero.Add(d.Last).Format(form), short(span))
}

func (d *Description) parts() int {
	n := 0
	if d.Summary != nil {
		for _, note := range d.Summary.Notes {
			if strings.Contains(note.Text, "part of a GPU") || strings.Contains(note.Text, "parts of GPUs") {
				n += note.Count
			}
		}
	}
	return n
}

func (d *Description) busiest() int {
	most := 0
	for _, h := range d.Hours {
		most = max(most, h.Jobs)
	}
	return most
}

func (d *Description) writeWaits(b *strings.Builder) {
	q := d.Waits
	switch {
	case d.Started == 0:
		return
	case d.Started < d.Jobs:
		fmt.Fprintf(b, "waits        of %s with a known start: ", printable.Count(d.Started, "job"))
	default:
		fmt.Fprint(b, "waits        ")
	}
	fmt.Fprintf(b, "mean %s, p50 %s, p99 %s, longest %s\n", short(q.Mean), short(q.P50), short(q.P99), short(q.Max))
}

func (d *Description) writeDemand(b *strings.Builder, span time.Duration) {
	if d.Known < d.Jobs {
		fmt.Fprintf(b, "load         unknown for %s: the model of the application decides how long they run\n", printable.Count(d.Jobs-d.Known, "job"))
	}
	if d.Known == 0 {
		return
	}
	fmt.Fprintf(b, "load         %.1f GPU-hours", d.GPUHours)
	if span > 0 {
		fmt.Fprintf(b, ", %.1f GPUs on average", d.GPUHours/span.Hours())
	}
	q := d.Durations
	fmt.Fprintf(b, "\nrunning time mean %s, min %s, p10 %s, p50 %s, p90 %s, p99 %s, max %s\n",
		short(q.Mean), short(q.Min), short(q.P10), short(q.P50), short(q.P90), short(q.P99), short(q.Max))
}

func writeNames(b *strings.Builder, title string, names []NameCount) {
	width := 0
	for _, n := range names[:min(maxNames, len(names))] {
		width = max(width, len(n.Name))
	}
	for i, n := range names {
		if i == maxNames {
			fmt.Fprintf(b, "%-12s and %d more\n", "", len(names)-i)
			return
		}
		fmt.Fprintf(b, "%-12s %-*s %d\n", title, width, n.Name, n.Jobs)
		title = ""
	}
}

func (d *Description) writeSizes(b *strings.Builder) {
	sizes, label := d.Sizes, strconv.Itoa
	if len(sizes) > maxRows {
		sizes = mergedSizes(d.Sizes)
		label = func(n int) string {
			if n == sizes[len(sizes)-1].GPUs {
				return fmt.Sprintf("<=%d", d.Sizes[len(d.Sizes)-1].GPUs)
			}
			return fmt.Sprintf("<=%d", n)
		}
	}
	fmt.Fprintf(b, "%8s %9s %12s\n", "GPUs", "jobs", "GPU-hours")
	most := 0
	for _, s := range sizes {
		most = max(most, s.Jobs)
	}
	for _, s := range sizes {
		fmt.Fprintf(b, "%8s %9d %12s%s\n", label(s.GPUs), s.Jobs, d.hours(s.GPUHours), bar(s.Jobs, most))
	}
}

func mergedSizes(all []SizeCount) []SizeCount {
	var sizes []SizeCount
	for _, s := range all {
		top := int(math.Pow(2, math.Ceil(math.Log2(float64(s.GPUs)))))
		if len(sizes) == 0 || sizes[len(sizes)-1].GPUs < top && len(sizes) < maxRows {
			sizes = append(sizes, SizeCount{GPUs: top})
		}
		last := &sizes[len(sizes)-1]
		last.Jobs += s.Jobs
		last.GPUHours += s.GPUHours
	}
	return sizes
}

func (d *Description) writeHours(b *strings.Builder) {
	if len(d.Hours) == 0 {
		return
	}
	step := 1
	for _, wider := range []int{2, 3, 6, 12, 24, 48, 7 * 24, 14 * 24, 28 * 24} {
		if d.Hours[len(d.Hours)-1].Hour/step < maxRows {
			break
		}
		step = wider
	}
	step = max(step, d.Hours[len(d.Hours)-1].Hour/maxRows+1)
	rows := make([]Load, d.Hours[len(d.Hours)-1].Hour/step+1)
	most := 0
	for _, h := range d.Hours {
		r := &rows[h.Hour/step]
		r.Jobs += h.Jobs
		r.GPUHours += h.GPUHours
		most = max(most, r.Jobs)
	}
	fmt.Fprintf(b, "%8s %9s %12s\n", "from", "jobs", "GPU-hours")
	for i, r := range rows {
		fmt.Fprintf(b, "%8s %9d %12s%s\n", short(time.Duration(i*step)*time.Hour), r.Jobs, d.hours(r.GPUHours), bar(r.Jobs, most))
	}
}

func (d *Description) hours(x float64) string {
	if d.Known == 0 {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

func bar(n, most int) string {
	if n == 0 {
		return ""
	}
	return " " + strings.Repeat("#", (n*barWidth+most-1)/most)
}

func short(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	two := func(a int64, unitA string, b int64, unitB string) string {
		if b == 0 {
			return fmt.Sprintf("%d%s", a, unitA)
		}
		return fmt.Sprintf("%d%s%d%s", a, unitA, b, unitB)
	}
	switch {
	case s < 120:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return two(s/60, "m", s%60, "s")
	case s < 48*3600:
		return two(s/3600, "h", s%3600/60, "m")
	}
	return two(s/86400, "d", s%86400/3600, "h")
}
