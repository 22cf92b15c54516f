package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// Kind of fault: a unit or a pattern of a column is read as another one. A table of known jobs, in any units and any
// order of columns, has their GPUs, users, waits and running times.
func TestMapped_known_jobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		of := func(name string, all ...string) string { return rapid.SampledFrom(all).Draw(t, name) }
		comma, times, lasts := of("comma", ",", ";", "tab", "|"), of("times", "", "date", "unix", "unix-ms", "DD.MM.YYYY hh:mm:ss", "YYYY-MM-DDThh:mm:ssZZ"), of("lasts", "", "ms", "clock")
		gpus := of("gpus", "", "percent", "milli")
		at := func(s int) string {
			t := time.Unix(int64(s), 0).UTC()
			switch times {
			case "unix":
				return fmt.Sprint(s)
			case "unix-ms":
				return fmt.Sprintf("%d000", s)
			case "DD.MM.YYYY hh:mm:ss":
				return t.Format("02.01.2006 15:04:05")
			case "YYYY-MM-DDThh:mm:ssZZ":
				return t.In(time.FixedZone("", 3600*(s%3-1))).Format("2006-01-02T15:04:05-07:00")
			}
			return t.Format(time.DateTime)
		}
		last := func(s int) string {
			switch lasts {
			case "ms":
				return fmt.Sprintf("%d000", s)
			case "clock":
				return fmt.Sprintf("%d-%02d:%02d:%02d", s/86400, s/3600%24, s/60%60, s%60)
			}
			return fmt.Sprint(s)
		}
		columns := map[string]string{"job nr": "id", "who": "user", "asked": "submit " + times, "began": "start " + times, "took": "duration " + lasts, "cards": "gpus " + gpus}
		names := rapid.Permutation([]string{"job nr", "who", "asked", "began", "took", "cards", "other"}).Draw(t, "columns")
		sep := map[string]string{"tab": "\t"}[comma]
		if sep == "" {
			sep = comma
		}
		rows, mapping := []string{strings.Join(names, sep)}, "# made\nseparator = "+comma+"\n"
		for name, field := range columns {
			mapping += name + " = " + field + "\n"
		}
		var want []recordedTruth
		for i := range draw("jobs", 1, 20) {
			submit := draw("submit", 1e9, 2e9)
			j := recordedTruth{"ann", draw("gpus", 1, 16), submit, submit + draw("wait", 0, 1e5), 0}
			took := draw("run", 1, 1e6)
			j.end = j.start + took
			cells := map[string]string{"job nr": fmt.Sprint(i), "who": "ann", "asked": at(j.submit), "began": at(j.start), "took": last(took), "cards": fmt.Sprint(j.gpus * map[string]int{"": 1, "percent": 100, "milli": 1000}[gpus])}
			if draw("started", 0, 4) == 0 {
				cells["began"], cells["took"] = of("none", "", "None", "NULL", "-"), ""
			} else {
				want = append(want, j)
			}
			var row []string
			for _, name := range names {
				row = append(row, cells[name])
			}
			rows = append(rows, strings.Join(row, sep))
		}
		m, err := parse.ReadMapping(strings.NewReader(mapping), "m")
		if err != nil {
			t.Fatal(err)
		}
		h, err := ReadHistory(strings.NewReader(strings.Join(rows, "\n")), "", parse.Options{Mapping: m})
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, mapping, strings.Join(rows, "\n"))
		}
		compareRecorded(t, h, time.Unix(0, 0), want, mapping+strings.Join(rows, "\n"))
	})
}

func TestReadMapping_errors(t *testing.T) {
	for text, want := range map[string]string{
		"a":                     `m:1: "a", want COLUMN = FIELD [UNIT]`,
		"a = card":              `m:1: field "card", want one of id, name, user`,
		"a = submit fortnights": `m:1: unit "fortnights" of field submit, want date, unix, unix-ms, seconds, or a pattern`,
		"a = submit YYYY hh":    `m:1: unit "YYYY hh" of field submit`,
		"a = gpus\nb = gpus":    "m:2: second column of field gpus, want each field once: line 1 has it",
		"separator = :":         `m:1: separator ":", want , ; | or tab`,
		"a = submit\nb = end":   "m: no column for the field duration, nor for start and end",
		"a = gpus":              "m: no column for the field submit or start",
		"a = submit\nb = duration\nc = gpus-per-node":                    "m: field gpus-per-node needs a column for the field nodes",
		"a = submit\nb = duration\nc = gpus-per-node\nd = nodes\ne=gpus": "m: want a column for either the field gpus, or gpus-per-node and nodes",
	} {
		if _, err := parse.ReadMapping(strings.NewReader(text), "m"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestGuessMapping: the error of an unknown table has a mapping that reads it, if its columns have usual names.
func TestGuessMapping(t *testing.T) {
	const table = "JobNr;User Name;Submitted At;StartTime;runtime_min;nGPUs;GPU Model;color\n5;ann;2026-01-02 00:00:00;2026-01-02 01:00:00;30;4;A100;red\n"
	_, err := Open(strings.NewReader(table), "", parse.Options{})
	unknown, ok := errors.AsType[*parse.Error](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	mapping := unknown.Mapping
	m, bad := parse.ReadMapping(strings.NewReader(mapping), "m")
	if bad != nil || !strings.Contains(mapping, "# color = ?\n") {
		t.Fatalf("mapping %q: %v", mapping, bad)
	}
	h, err := ReadHistory(strings.NewReader(table), "", parse.Options{Mapping: m})
	if err != nil || len(h.Jobs) != 1 {
		t.Fatalf("%+v, %v", h, err)
	}
	o := h.Jobs[0]
	if o.Arrival.Spec.GPUs != 4 || o.Arrival.Duration != 30*time.Minute || o.Started.Sub(o.Submitted) != time.Hour || o.Arrival.Spec.GPUTypes[0] != "A100" {
		t.Errorf("job %+v", o)
	}
}

// TestMapped_refused: a date that has two meanings is no time, a time of day is no number, and the error has the remedy.
func TestMapped_refused(t *testing.T) {
	m, err := parse.ReadMapping(strings.NewReader("s = submit\nd = duration\ng = gpus"), "m")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"01/02/2026 00:00,60":         "in:2:1: s \"01/02/2026 00:00\", want a time like 2020-08-31 23:59:00; set the unit",
		"1767225600,60":               "unix-ms",
		"2026-01-02 00:00:00,1:00:00": "in:2:2: d \"1:00:00\", want a number; for hours, minutes and seconds set the unit clock",
	} {
		_, err := ReadHistory(strings.NewReader("s,d,g\n"+text+",1\n"), "", parse.Options{File: "in", Mapping: m})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}
