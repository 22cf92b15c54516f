package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/tree"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// packed returns s as a gzip file.
func packed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(s))
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return b.String()
}

func TestFormatsDocumented(t *testing.T) {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
		if f.Doc == "" || f.Sniff == nil || f.Read == nil {
			t.Errorf("format %s is not complete", f.Name)
		}
	}
	tree.Check(t, "traces", names)
}

func TestSchemaPublished(t *testing.T) {
	doc, err := os.ReadFile("../../docs/arrival.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(doc) != schema {
		t.Error("docs/arrival.schema.json differs from trace/arrival.schema.json, want a copy of it")
	}
}

func TestSniff(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range samples {
		seen[s.format] = true
		for _, f := range Formats() {
			if got, want := f.Sniff([]byte(s.text)), f.Name == s.format; got != want {
				t.Errorf("%s/%s: sniffed as %s: %v, want %v", s.format, s.name, f.Name, got, want)
			}
		}
	}
	for _, f := range Formats() {
		if !seen[f.Name] {
			t.Errorf("format %s has no sample", f.Name)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	tests := []struct {
		name, text, format string
		o                  parse.Options
		want               string
	}{
		{"empty", "", "", parse.Options{}, "input: empty file, want a trace"},
		{"unknown format", siaText, "csv", parse.Options{}, `trace format "csv", want one of jsonl, sia, philly, helios, alibaba, alibaba-v2026, alibaba-pai, swf, gavel, shockwave, synergy, slurm, kubernetes`},
		{"unknown header", "a,b\n1,2\n", "", parse.Options{File: "w.csv"}, `w.csv:1: first line "a,b" is of no known format, want one of jsonl, sia,`},
		{"gzip header cut", "\x1f\x8b\x08", "", parse.Options{File: "w.gz"}, "w.gz: truncated: unexpected EOF"},
		{"options", siaText, "", parse.Options{Limit: -1, MaxLine: -1, OnBadRow: 7}, "trace options: bad-row policy 7, want 0 (fail), 1 (skip) or 2 (few)\nlimit -1, want at least 0\nlongest line -1 bytes, want at least 0"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Open(strings.NewReader(tc.text), tc.format, tc.o)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	for _, tc := range []struct{ name, format, wantFormat, wantFile string }{
		{"jobs.csv", "", "", "jobs.csv"},
		{"shockwave:jobs.csv", "", "shockwave", "jobs.csv"},
		{"shockwave:a:b.csv", "", "shockwave", "a:b.csv"},
		{"c:jobs.csv", "", "", "c:jobs.csv"},
		{"shockwave:jobs.csv", "gavel", "gavel", "shockwave:jobs.csv"},
	} {
		if format, file := Named(tc.name, tc.format); format != tc.wantFormat || file != tc.wantFile {
			t.Errorf("%s: %q of %q, want %q of %q", tc.name, file, format, tc.wantFile, tc.wantFormat)
		}
	}
}

func TestDefaultOptions(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
	for _, b := range []parse.BadRow{parse.Fail, parse.Skip} {
		if got, err := parse.BadRowOf(b.String()); err != nil || got != b {
			t.Errorf("ParseBadRow(%q) = %v, %v, want %v", b.String(), got, err, b)
		}
	}
	if _, err := parse.BadRowOf("ignore"); err == nil {
		t.Error("ParseBadRow of an unknown name returned no error")
	}
}
