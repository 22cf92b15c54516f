package budget

import (
	"math"
	"strings"
	"testing"
)

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]float64{"40": 40, "40/hour": 40, "2000/day": 2000.0 / 24, "60000/month": 2000.0 / 24, "1e3": 1000} {
		if got, err := ParseAmount(text); err != nil || math.Abs(got-want) > 1e-12*want {
			t.Errorf("%q: got %g, %v; want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/day", "2000/", "2000/week", "$2000/day", "0", "-1/day", "NaN", "Inf", "1e15", "1/day/hour"} {
		if got, err := ParseAmount(text); err == nil || !strings.Contains(err.Error(), "2000/day") {
			t.Errorf("%q: got %g, %v; want an error that says what is wanted", text, got, err)
		}
	}
}

func TestFigures(t *testing.T) {
	for x, want := range map[float64]string{0: "0.00", 5.005: "5.00", 999.994: "999.99", 1234.5: "1,234.50", 12345.6: "12,346", 1234567: "1,234,567"} {
		if got := figure(x); got != want {
			t.Errorf("%g: got %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{92.3401: "92.35", 92.34: "92.34", 12345.1: "12,346"} {
		if got := figureUp(x); got != want {
			t.Errorf("%g: got %q rounded up, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{0.00828: "0.00828s", 6.119: "6.12s", 59.5: "59.5s", 60.4: "1m0s", 7200: "2h0m0s", 1e10: "115,741 days", 365 * 86400: "365.00 days", -1e12: "-11,574,074 days"} {
		if got := formatSeconds(x); got != want {
			t.Errorf("%g: got %q, want %q", x, got, want)
		}
	}
	for x, want := range map[float64]string{7200: "2h", 5400: "1h30m", 1800: "30m", 90: "1m30s", 10: "10s", 36600: "10h10m"} {
		if got := brief(x); got != want {
			t.Errorf("%g: got %q, want %q", x, got, want)
		}
	}
}
