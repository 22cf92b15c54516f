package trace

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// caseOf returns an input of the shared cases.
func caseOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(testdata.Path(t, "../cases/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func counted(s *parse.Summary, word string) int {
	n := 0
	for _, note := range s.Notes {
		if strings.Contains(note.Text, word) {
			n += note.Count
		}
	}
	return n
}

// Kind of fault: one odd job refuses the log, or is left out under another name.
func TestPhilly_of_the_cases(t *testing.T) {
	for _, name := range []string{"15-philly-null-and-overlapping-attempts/cluster_job_log", "files/17-philly-none.json"} {
		s := new(parse.Summary)
		seq, err := Open(strings.NewReader(caseOf(t, name)), "", parse.Options{Summary: s})
		if err != nil {
			t.Fatal(err)
		}
		all, err := parse.Collect(seq)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || all[0].Spec.GPUs != 8 || all[0].Duration != 43*time.Hour+54*time.Minute+7*time.Second {
			t.Errorf("%s: %+v, want job 1 on 8 GPUs for 43h54m07s", name, all)
		}
		for word, want := range map[string]int{"without start or end": 1, "end before they start": 2, "without a submission time": 1, "0 GPUs": 2, "no running time": 2, "several attempts": 1} {
			if got := counted(s, word); got != want {
				t.Errorf("%s: %q counted %d times, want %d: %v", name, word, got, want, s.Notes)
			}
		}
	}
}

// Kind of fault: one bad row refuses the file, and the error does not name the switch that leaves it out. With Few a
// file is read if at most 1 % of its rows are bad.
func TestFew_bad_rows(t *testing.T) {
	read := func(text string, o parse.Options) (int, *parse.Summary, error) {
		o.File, o.Summary = "w", new(parse.Summary)
		seq, err := Open(strings.NewReader(text), "", o)
		if err != nil {
			t.Fatal(err)
		}
		all, err := parse.Collect(seq)
		return len(all), o.Summary, err
	}
	half := caseOf(t, "files/11-one-bad-row.txt")
	const want = `w:3:5: elapsedraw "INVALID", want seconds of at least 0 and at most 9e9 (1 of 2 rows cannot be read; --on-bad-row skip leaves them out)`
	if _, _, err := read(half, parse.Options{OnBadRow: parse.Few}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if n, s, err := read(half, parse.Options{OnBadRow: parse.Skip}); n != 1 || s.Bad != 1 || err != nil {
		t.Errorf("skip: %d jobs, %+v, %v", n, s, err)
	}
	header, rows, _ := strings.Cut(half, "\n")
	good, bad, _ := strings.Cut(rows, "\n")
	for count, fine := range map[int]bool{98: false, 99: true, 500: true} {
		text := header + "\n" + bad
		for i := range count {
			text += strings.Replace(good, "1|", string(rune('1'+i%9))+strings.Repeat("0", 1+i/9%5)+string(rune('1'+i/45%9))+string(rune('1'+i/405))+"|", 1) + "\n"
		}
		n, s, err := read(text, parse.Options{OnBadRow: parse.Few})
		if fine != (err == nil) || s.Bad != 1 || fine && n == 0 {
			t.Errorf("1 bad row of %d: %d jobs, %d bad, %v", count+1, n, s.Bad, err)
		}
	}
}

// Kind of fault: a public trace, or another separator, is of no known format.
func TestFormats_of_the_cases(t *testing.T) {
	for _, tc := range []struct {
		name, format string
		jobs         []string
	}{
		{"files/12-acme-seren.csv", "helios", []string{"5778432 0s 8 GPUs 4h0m0s false", "5778433 23s 32 GPUs 1h0m0s false"}},
		{"22-alibaba-2026-and-acme-headers/trace_kalos.csv", "helios", []string{"j1 0s 128 GPUs 40s false", "j2 30m0s 1 GPUs 20m0s false"}},
		{"22-alibaba-2026-and-acme-headers/job_info_df.csv", "alibaba-v2026", []string{"1 0s 1 GPUs 767h46m40s true", "2 2663h46m40s 90 GPUs 19h43m20s false", "3 2663h46m40s 96 GPUs 11h23m20s false"}},
		{"files/15-semicolon.txt", "slurm", []string{"131 0s 1 GPUs 1h0m0s false", "132 0s 1 GPUs 1h0m0s false"}},
	} {
		all, s := readText(t, caseOf(t, tc.name))
		var jobs []string
		for _, a := range all {
			jobs = append(jobs, fmt.Sprintf("%s %v %d GPUs %v %t", a.Spec.ID, a.At, a.Spec.GPUs, a.Duration, a.Spec.NonPreemptive))
		}
		if diff := cmp.Diff(tc.jobs, jobs); diff != "" || s.Format != tc.format {
			t.Errorf("%s: format %s, want %s; jobs (-want +got):\n%s", tc.name, s.Format, tc.format, diff)
		}
	}
	h, err := ReadHistory(strings.NewReader(caseOf(t, "files/12-acme-seren.csv")), "", parse.Options{})
	if err != nil || h == nil || len(h.Jobs) != 2 || h.Jobs[1].Started.Sub(h.Jobs[1].Submitted) != time.Hour {
		t.Errorf("Acme as a history: %+v, %v, want a wait of an hour", h, err)
	}
}

func readText(t *testing.T, text string) ([]workload.Arrival, *parse.Summary) {
	t.Helper()
	s := new(parse.Summary)
	seq, err := Open(strings.NewReader(text), "", parse.Options{Summary: s})
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse.Collect(seq)
	if err != nil {
		t.Fatal(err)
	}
	return all, s
}

// Kind of fault: an unknown header gets no hint.
func TestChoose_guesses(t *testing.T) {
	for text, want := range map[string]string{
		"job_id,gpu_num,submit_time,state\n":    "it looks like helios without column duration",
		"JobID:Submit:ElapsedRaw:ReqTRES\n":     "is of no known format, want one of",
		"job_id;gpu_num;submit_time;duration\n": "it looks like helios with another separator",
	} {
		if _, err := Open(strings.NewReader(text), "", parse.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
