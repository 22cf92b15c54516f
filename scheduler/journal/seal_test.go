package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sealed returns a journal of format 1 as one of format 2, with the record of its end: this is
// the documentation of the format once more, not the code that is tested.
func sealed(text string) string {
	lines := strings.Split(strings.TrimSuffix(strings.Replace(text, `{"oxj":1,`, `{"oxj":2,`, 1), "\n"), "\n")
	at, _, _ := strings.Cut(strings.TrimPrefix(lines[len(lines)-1], `{"t":`), ",")
	if len(lines) == 1 {
		at = "0"
	}
	return seals(append(lines, `{"t":`+at+`,"end":true}`))
}

// seals returns lines with their hashes.
func seals(lines []string) string {
	all := ""
	for _, line := range lines {
		all += strings.TrimSuffix(line, "}")
		all += fmt.Sprintf(",\"h\":\"%x\"}\n", sha256.Sum256([]byte(all)))[:len(`,"h":"01234567`)] + "\"}\n"
	}
	return all
}

// found returns in which line a damaged journal is said to be so, 0 if it is said to be good.
func found(text string) (line int, err error) {
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		return 1, err
	}
	for {
		if _, err = r.Read(); err != nil {
			break
		}
	}
	if err.Error() == "EOF" {
		return 0, nil
	}
	_, e := fmt.Sscanf(err.Error(), "journal: line %d:", &line)
	return line, errors.Join(err, e)
}

// TestSeal_of_every_byte changes each byte of a journal, one at a time, into others: the line in
// which it is, and no other, is said to be changed; or, of the last line feed, that the journal
// has no end.
func TestSeal_of_every_byte(t *testing.T) {
	text := sealed(golden)
	if line, err := found(text); line != 0 {
		t.Fatal(err)
	}
	for at := range text {
		want := 1 + strings.Count(text[:at], "\n")
		for _, to := range []byte{text[at] ^ 1, text[at] ^ 0x20, text[at] ^ 0x80, ' ', '0', '}', '"', '\n', '\r', 0} {
			if to == text[at] {
				continue
			}
			line, err := found(text[:at] + string([]byte{to}) + text[at+1:])
			last := at == len(text)-1
			if line != want || want > 1 && errors.Is(err, ErrChanged) == last || last != errors.Is(err, ErrTruncated) {
				t.Fatalf("byte %d, %q, is %q: got %v, want it to be found in line %d", at, text[at], to, err, want)
			}
		}
	}
}

// TestSeal_of_lines: lines that are lost, doubled, moved or put in are found at the first line that is
// not where it was.
func TestSeal_of_lines(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSuffix(sealed(golden), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	for i := 1; i < len(lines); i++ {
		other := strings.Replace(lines[i], `"t":`, `"t":0`, 1)
		for name, changed := range map[string][]string{
			"lost":    slices.Delete(slices.Clone(lines), i, i+1),
			"doubled": slices.Insert(slices.Clone(lines), i, lines[i-1]),
			"put in":  slices.Insert(slices.Clone(lines), i, other),
		} {
			want := i + 1
			line, err := found(strings.Join(changed, ""))
			lastLost := name == "lost" && i == len(lines)-1
			if line != want || lastLost != errors.Is(err, ErrTruncated) || i > 1 && lastLost == errors.Is(err, ErrChanged) {
				t.Errorf("line %d is %s: got line %d and %v, want line %d", i+1, name, line, err, want)
			}
		}
		for k := 1; k < i; k++ {
			swapped := slices.Clone(lines)
			swapped[i], swapped[k] = swapped[k], swapped[i]
			if line, err := found(strings.Join(swapped, "")); line != k+1 || !errors.Is(err, ErrChanged) {
				t.Errorf("lines %d and %d are swapped: got line %d and %v, want line %d", k+1, i+1, line, err, k+1)
			}
		}
	}
	if line, err := found(sealed(golden) + lines[len(lines)-1]); line != len(lines)+1 || !errors.Is(err, ErrChanged) {
		t.Errorf("the end is doubled: got line %d and %v", line, err)
	}
}

// TestSeal_of_anything: whatever is cut out of a journal, and whatever is put in its place, is found
// in the first line that is not as it was.
func TestSeal_of_anything(t *testing.T) {
	text := sealed(golden)
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		to := rapid.IntRange(from, len(text)).Draw(t, "to")
		put := rapid.OneOf(
			rapid.Just(""), rapid.String(), rapid.SampledFrom(strings.SplitAfter(text, "\n")),
			rapid.Custom(func(t *rapid.T) string { return text[rapid.IntRange(0, len(text)-1).Draw(t, "copied"):] }),
		).Draw(t, "put in")
		changed := text[:from] + put + text[to:]
		if changed == text || changed == strings.TrimSuffix(text, "\n") {
			t.Skip("not changed")
		}
		alike := 0
		for alike < min(len(text), len(changed)) && text[alike] == changed[alike] {
			alike++
		}
		want := 1 + strings.Count(text[:alike], "\n")
		if line, err := found(changed); err == nil || line != want {
			t.Fatalf("bytes %d to %d are %q: got line %d and %v, want line %d", from, to, put, line, err, want)
		}
	})
}

// TestSeal_says_what_to_do: where the damage is, and what is good.
func TestSeal_says_what_to_do(t *testing.T) {
	_, err := found(strings.Replace(sealed(golden), `["a100",1.8]`, `["a100",1.9]`, 1))
	for _, part := range []string{"journal: line 4: the journal was changed after it was written: this line was changed, or one before it was lost, doubled or moved (got hash ", "restore the file, or read its first 3 lines, which are intact"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q in it", err, part)
		}
	}
	lines := strings.SplitAfter(sealed(golden), "\n")
	if line, err := found(strings.Join(lines[:3], "")); line != 4 || !errors.Is(err, ErrTruncated) {
		t.Errorf("the first 3 lines: got line %d and %v, want no more than that the end is missing", line, err)
	}
}

// TestReader_of_format_1: journals without hashes are read as they always were.
func TestReader_of_format_1(t *testing.T) {
	for text, want := range map[string]bool{golden: false, sealed(golden): true} {
		r, records, err := readAll(t, text)
		if err != nil || len(records) != 10 || r.Sealed() != want {
			t.Errorf("got %d records, sealed %t, and %v, want 10 and %t", len(records), r.Sealed(), err, want)
		}
	}
	if line, err := found(strings.Replace(sealed(golden), `{"oxj":2,`, `{"oxj":1,`, 1)); line != 1 || err == nil {
		t.Errorf("format 2 that says it is 1: got line %d and %v", line, err)
	}
}

// TestReader_of_a_cut_journal: wherever a journal is cut off, all whole lines before are read,
// and then it is said that there is no end.
func TestReader_of_a_cut_journal(t *testing.T) {
	text := sealed(golden)
	for cut := strings.IndexByte(text, '\n') + 1; cut < len(text)-1; cut++ {
		_, records, err := readAll(t, text[:cut])
		whole := strings.Count(text[:cut], "\n") - 1
		if text[cut] == '\n' { // complete but for its line feed
			whole++
		}
		if len(records) != whole || !errors.Is(err, ErrTruncated) || errors.Is(err, ErrChanged) {
			t.Fatalf("cut at %d: got %d records and %v, want %d and no end", cut, len(records), err, whole)
		}
	}
}

// TestWriter_ends_a_journal_once: what is not closed has no end, and what is has one.
func TestWriter_ends_a_journal_once(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, testHeader(t))
	record(w, testCluster(t))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if line, err := found(out.String()); line != 12 || !errors.Is(err, ErrTruncated) {
		t.Errorf("not closed: got line %d and %v", line, err)
	}
	for range 2 {
		_ = w.Close()
	}
	if line, err := found(out.String()); line != 0 || strings.Count(out.String(), `"end":true`) != 1 {
		t.Errorf("closed: got line %d and %v", line, err)
	}
}

// BenchmarkSeal is what a line's hash costs.
func BenchmarkSeal(b *testing.B) {
	c := newChain()
	line := []byte(strings.Split(golden, "\n")[4])
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = c.seal(append(buf[:0], line...))
	}
}
