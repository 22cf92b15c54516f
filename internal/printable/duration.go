package printable

import (
	"fmt"
	"time"
)

// Duration formats a duration in its two largest units: 42s, 3m07s, 2h05m, 1d09h.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/day, d%day/time.Hour)
}

// Rough formats an estimated duration with two or three digits and one unit: "50 s", "95 min", "2.5 h", "3.1 days". A
// negative one is "0 s".
func Rough(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

// Short formats a duration in at most two units: "45s", "12m", "1h20m", "2d3h"; a negative one as "0s".
func Short(d time.Duration) string {
	d = max(d, 0)
	minutes := int(d.Minutes())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case minutes < 60:
		return fmt.Sprintf("%dm", minutes)
	case minutes < 24*60:
		return fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%dd%dh", minutes/60/24, minutes/60%24)
}

// GPUs formats a number of GPUs of a type: "2 t4 GPUs"; "1 GPU" if the type is empty. A slot of a machine without GPUs,
// of type cpu, is "1 CPU slot".
func GPUs(n int, gpuType string) string {
	switch gpuType {
	case "":
		return Count(n, "GPU")
	case "cpu":
		return Count(n, "CPU slot")
	}
	return Count(n, gpuType+" GPU")
}
