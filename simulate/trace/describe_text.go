package trace

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	maxRows  = 24 // of a printed table; longer tables are merged or cut
	barWidth = 40
)

func (d *Description) String() string {
	var b strings.Builder
	if d.Summary != nil {
		b.WriteString(d.Summary.String())
	}
	span := d.Last - d.First
	fmt.Fprintf(&b, "jobs         %d\n", d.Jobs)
	fmt.Fprintf(&b, "submitted    %s to %s\n", short(d.First), short(d.Last))
	if span > 0 {
		fmt.Fprintf(&b, "rate         %.1f jobs/h, %d in the busiest hour\n", float64(d.Jobs)/span.Hours(), d.busiest())
	}
	if d.Users > 0 || d.Queues > 0 {
		fmt.Fprintf(&b, "from         %d users, %d queues\n", d.Users, d.Queues)
	}
	if d.Cancelled > 0 {
		fmt.Fprintf(&b, "cancelled    %d\n", d.Cancelled)
	}
	d.writeDemand(&b, span)
	writeNames(&b, "adaptivity", d.Adaptivity)
	writeNames(&b, "GPU types", d.GPUTypes)
	writeNames(&b, "application", d.Applications)
	d.writeSizes(&b)
	d.writeHours(&b)
	return b.String()
}

func (d *Description) busiest() int {
	most := 0
	for _, h := range d.Hours {
		most = max(most, h.Jobs)
	}
	return most
}

func (d *Description) writeDemand(b *strings.Builder, span time.Duration) {
	if d.Known < d.Jobs {
		fmt.Fprintf(b, "demand       of %d jobs follows from their application\n", d.Jobs-d.Known)
	}
	if d.Known == 0 {
		return
	}
	fmt.Fprintf(b, "demand       %.1f GPU-hours", d.GPUHours)
	if span > 0 {
		fmt.Fprintf(b, ", %.1f GPUs on average", d.GPUHours/span.Hours())
	}
	q := d.Durations
	fmt.Fprintf(b, "\nrunning time mean %s, min %s, p10 %s, p50 %s, p90 %s, p99 %s, max %s\n",
		short(q.Mean), short(q.Min), short(q.P10), short(q.P50), short(q.P90), short(q.P99), short(q.Max))
}

func writeNames(b *strings.Builder, title string, names []NameCount) {
	width := 0
	for _, n := range names[:min(maxRows, len(names))] {
		width = max(width, len(n.Name))
	}
	for i, n := range names {
		if i == maxRows {
			fmt.Fprintf(b, "%-12s and %d more\n", "", len(names)-i)
			return
		}
		fmt.Fprintf(b, "%-12s %-*s %d\n", title, width, n.Name, n.Jobs)
		title = ""
	}
}

// writeSizes prints requested GPUs, merged to powers of two if there are many.
func (d *Description) writeSizes(b *strings.Builder) {
	sizes := d.Sizes
	label := strconv.Itoa
	if len(sizes) > maxRows {
		sizes = nil
		for _, s := range d.Sizes {
			top := int(math.Pow(2, math.Ceil(math.Log2(float64(s.GPUs)))))
			if len(sizes) == 0 || sizes[len(sizes)-1].GPUs != top {
				sizes = append(sizes, SizeCount{GPUs: top})
			}
			last := &sizes[len(sizes)-1]
			last.Jobs += s.Jobs
			last.GPUHours += s.GPUHours
		}
		label = func(n int) string { return fmt.Sprintf("<=%d", n) }
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

// short returns a time span with two units: 90s, 12m30s, 3h20m, 4d6h.
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
