package slurm

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A log reads times as the function does, whatever it read before: good and bad ones, of the same day and of others.
func TestInstants(t *testing.T) {
	zones := []*time.Location{time.UTC, time.FixedZone("east", 3600)}
	rapid.Check(t, func(t *rapid.T) {
		l := log{zone: rapid.SampledFrom(zones).Draw(t, "zone")}
		for range rapid.IntRange(1, 60).Draw(t, "times") {
			text := fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d", rapid.SampledFrom([]int{1970, 1971, 2024, 2106, 2107}).Draw(t, "year"),
				rapid.SampledFrom([]int{1, 2, 12, 13}).Draw(t, "month"), rapid.SampledFrom([]int{0, 1, 7, 29, 31}).Draw(t, "day"),
				rapid.IntRange(0, 24).Draw(t, "hour"), rapid.SampledFrom([]int{0, 30, 59, 60}).Draw(t, "minute"), rapid.SampledFrom([]int{0, 59, 60}).Draw(t, "second"))
			if i := rapid.IntRange(0, 4*len(text)).Draw(t, "spoilt at"); i < len(text) {
				text = text[:i] + "x" + text[i+1:]
			}
			at, local, ok := l.instant(text, &l.days[0])
			if wantAt, wantLocal, want := instant(text, l.zone); ok != want || ok && (at != wantAt || local != wantLocal) {
				t.Fatalf("%s: %v, %v, %v, want %v, %v, %v", text, at, local, ok, wantAt, wantLocal, want)
			}
		}
	})
}

// What a text means is parsed once; one that means nothing is refused each time.
func TestRecalled(t *testing.T) {
	var m textCache[int]
	calls := 0
	parse := func(text string) (int, string) {
		if calls++; text == "bad" {
			return 0, "something good"
		}
		return len(text), ""
	}
	for _, text := range []string{"a", "abc", "a", "bad", "bad", "abc"} {
		value, want := m.of(text, parse)
		if bad := text == "bad"; bad != (want != "") || !bad && value != len(text) {
			t.Errorf("%s: %d, %q", text, value, want)
		}
	}
	if calls != 4 {
		t.Errorf("%d texts were parsed, want 2, and one twice", calls)
	}
	for i := range 3 * maxRecent {
		if value, _ := m.of(fmt.Sprint(i), parse); value != len(fmt.Sprint(i)) || len(m.known) > maxRecent {
			t.Fatalf("%d: %d, and %d texts are kept", i, value, len(m.known))
		}
	}
}
