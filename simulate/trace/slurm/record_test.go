package slurm

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
)

// plain reads what time.ParseInLocation reads, and nothing else, in zones with summer time, too.
func TestPlain_is_as_the_library(t *testing.T) {
	draws.AtLeast(t, 2000) // about half of the texts are times
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Skip(err)
	}
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(20[0-9]{2}|[0-9]{4})-(0[1-9]|1[0-3]|00)-([0-2][0-9]|3[0-2])T([01][0-9]|2[0-4]):([0-5][0-9]|60):([0-5][0-9]|6[0-9])([.,Z]?[0-9]?)`).Draw(t, "text")
		if rapid.IntRange(0, 9).Draw(t, "spoil") == 0 {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text = text[:at] + rapid.SampledFrom([]string{" ", "-", "9", "T", ":"}).Draw(t, "by") + text[at+1:]
		}
		for _, zone := range []*time.Location{time.UTC, paris} {
			want, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
			got, ok := plain(text, zone)
			if ok != (err == nil) && len(text) == 19 || ok && !got.Equal(want) {
				t.Fatalf("%q in %v: %v, %t, want %v, %v", text, zone, got, ok, want, err)
			}
			if ok {
				read++
			}
		}
	})
	if read == 0 {
		t.Error("no text was a time")
	}
}

// keyOf reads what the expression matches, and nothing else.
func TestKeyOf_is_as_the_expression(t *testing.T) {
	draws.AtLeast(t, 1000) // a third of the texts are numbers alone
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[0-9]{0,22}`), rapid.StringMatching(`[+-]?[0-9_]{1,6}`), rapid.StringMatching(`[0-9]{1,4}[_+][0-9]{1,4}(\.batch)?`),
		).Draw(t, "text")
		k, step, ok := keyOf(text)
		m := jobID.FindStringSubmatch(text)
		if m == nil {
			if ok {
				t.Fatalf("%q is job %v, want none", text, k)
			}
			return
		}
		number, err := strconv.ParseUint(m[1], 10, 64)
		if ok != (err == nil) || ok && k.number != number || step != (m[4] != "") || ok && m[3] == "" && k.part != 0 || ok && m[3] != "" && k.part == 0 {
			t.Fatalf("%q is job %v, step %t, %t, want %v", text, k, step, ok, m)
		}
	})
}
