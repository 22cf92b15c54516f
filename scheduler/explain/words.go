package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

func clock(d time.Duration) string {
	d = d.Round(time.Second)
	return fmt.Sprintf("%dh%02dm%02ds", d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second)
}

func span(d time.Duration) string { return printable.Duration(d) }

func passed(from, to time.Duration) string {
	return span(to.Round(time.Second) - from.Round(time.Second))
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func fixed(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

func tenths(x float64) string { return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return count(n, what) + " are"
}

func gpus(n int, t cluster.GPUType) string {
	return printable.GPUs(n, string(t))
}

func slots(t cluster.GPUType) string { return strings.TrimPrefix(gpus(0, t), "0 ") }

func amount(c cluster.Configuration) string {
	if c.IsZero() {
		return "no GPUs"
	}
	text := gpus(c.GPUs, c.GPUType)
	if c.Nodes > 1 {
		text += fmt.Sprintf(" on %d nodes", c.Nodes)
	}
	return text
}

func both(a cluster.Allocation) string {
	if !a.Mixed() {
		return amount(a.Configuration)
	}
	return amount(a.Configuration) + " and " + amount(a.Also)
}

func asked(s *job.Spec, p Preemption) string {
	parts := []string{size(s)}
	for _, t := range slices.Sorted(maps.Keys(s.Equivalents)) {
		if n := s.Equivalent(t); n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s GPUs count as one", n, t))
		}
	}
	switch {
	case s.Adaptivity.Has(job.BatchSizes) && s.Batch.Max > 0:
		parts = append(parts, fmt.Sprintf("batch size %d to %d", s.Batch.Init, s.Batch.Max))
	case s.BatchSize > 0:
		parts = append(parts, fmt.Sprintf("batch size %d", s.BatchSize))
	}
	switch {
	case s.NonPreemptive && p == NotYet:
		parts = append(parts, "not preemptible until its program connects")
	case s.NonPreemptive:
		parts = append(parts, "not preemptible")
	}
	if !s.Reservation.IsZero() {
		parts = append(parts, "reserved "+amount(s.Reservation))
	}
	return strings.Join(parts, ", ")
}

// size returns "exactly 6 GPUs of any type", "8 GPUs of any type (accepts 1 or more)" or "2 GPUs of any type (accepts
// 1 to 8)".
func size(s *job.Spec) string {
	of, least := " of "+types(s), max(1, s.MinGPUs)
	switch {
	case !s.Adaptivity.Has(job.GPUCount):
		return "exactly " + count(max(1, s.GPUs), "GPU") + of
	case s.MaxGPUs > 0:
		return fmt.Sprintf("%s%s (accepts %d to %d)", count(s.GPUs, "GPU"), of, least, s.MaxGPUs)
	case s.GPUs <= least:
		return fmt.Sprintf("%d or more GPUs%s", least, of)
	}
	return fmt.Sprintf("%s%s (accepts %d or more)", count(s.GPUs, "GPU"), of, least)
}

func types(s *job.Spec) string {
	if len(s.GPUTypes) == 0 {
		return "any type"
	}
	names := make([]string, len(s.GPUTypes))
	for i, t := range s.GPUTypes {
		names[i] = string(t)
	}
	return "type " + strings.Join(names, " or ")
}

const mostNamed = 3

func named(names []string, all int) string {
	shown := names[:min(mostNamed, len(names))]
	text := strings.Join(shown, ", ")
	switch more := all - len(shown); {
	case more > 0:
		return text + " and " + strconv.Itoa(more) + " more"
	case len(shown) > 1:
		return strings.Join(shown[:len(shown)-1], ", ") + " and " + shown[len(shown)-1]
	}
	return text
}
