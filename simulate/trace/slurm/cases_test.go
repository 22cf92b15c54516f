package slurm

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/trace/parse"
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

// listed returns the jobs of an input in lines like "7 ann 8 GPUs a100 3600s".
func listed(t *testing.T, text string, o parse.Options) ([]string, *parse.Summary) {
	t.Helper()
	jobs, s := mustRead(t, text, o)
	var all []string
	for id, a := range jobs {
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%s %s %d GPUs %s %.0fs", id, a.Spec.User, a.Spec.GPUs, strings.Trim(fmt.Sprint(a.Spec.GPUTypes), "[]"), a.Duration.Seconds())), " "))
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(len(strings.Fields(a)[0])-len(strings.Fields(b)[0]), strings.Compare(a, b))
	})
	return all, s
}

// The kind of each fault stands beside its case.
func TestCases(t *testing.T) {
	for _, tc := range []struct {
		name, kind string
		cluster    string
		skip       bool
		jobs       []string
		notes      map[string]int
	}{
		{
			name: "01-sacct-partition-limit/input.txt", kind: "jobs that did not run are dropped for an unrelated reason",
			jobs:  []string{"31115 u1 4 GPUs 7200s", "31117 u3 2 GPUs 12000s"},
			notes: map[string]int{"never ran (CANCELLED)": 1, "still waiting when the log ends": 1, "limit unknown": 2, "still running when the log ends": 1},
		},
		{
			name: "02-sacct-typed-tres/input.txt", kind: "shares of GPUs count as whole GPUs or as none",
			jobs: []string{
				"1 u1 1 GPUs nvidia_geforce_rtx_2080_ti 3600s", "2 u1 1 GPUs a100 3600s", "3 u1 3 GPUs kepler tesla 3600s", "7 u1 1 GPUs 3600s", "8 u1 2 GPUs A100-SXM4 3600s",
			},
			notes: map[string]int{"parts of GPUs dropped (a100_1g.5gb)": 1, "parts of GPUs dropped (shard)": 1, "0 GPUs": 1, "several types at once": 1},
		},
		{
			name: "03-sacct-recycled-ids/input.txt", kind: "a number used again is a requeue",
			jobs:  []string{"12728301 u7 1 GPUs 3600s", "12728302 u1 8 GPUs 3600s", "12728301#2 u1 8 GPUs 86400s"},
			notes: map[string]int{"used again": 1, "requeue": 0},
		},
		{
			name: "files/06-recycled-id.txt", kind: "a number used again is a requeue",
			jobs: []string{"12728301 u7 1 GPUs 3600s", "12728302 u1 8 GPUs 3600s", "12728301#2 u1 8 GPUs 86400s"},
		},
		{
			name: "04-sacct-names-with-separators/input.txt", kind: "half of a broken row counts as a job", skip: true,
			jobs: []string{"1 u1 1 GPUs 3600s", "3 u1 1 GPUs 3600s", "4 domänen-benutzer 1 GPUs 3600s", "5 u1 1 GPUs 3600s"},
		},
		{
			name: "04-sacct-names-with-separators/latin1-and-escape.txt", kind: "other encodings are refused",
			jobs: []string{"1 u1 1 GPUs 3600s", "2 u1 1 GPUs 3600s"}, notes: map[string]int{"Latin-1": 1},
		},
		{
			name: "05-sacct-array-het-federation/input.txt", kind: "one row counts as one job",
			jobs: []string{"alpha/700+1 u1 16 GPUs 3600s", "beta/134217999 u1 4 GPUs 7200s", "alpha/56502501_0 u1 1 GPUs 3600s"},
			notes: map[string]int{
				"tasks of arrays: jobs still waiting": 15, "REVOKED": 1, "job steps": 3, "jobs of cluster alpha": 2, "jobs of cluster beta": 1, "parts of heterogeneous jobs without GPUs": 1,
			},
		},
		{
			name: "files/01-two-clusters.txt", kind: "numbers of two clusters are one counter",
			jobs:  []string{"beta/100 bob 4 GPUs h100 7200s", "beta/101 bob 2 GPUs h100 3600s", "alpha/100 ann 8 GPUs a100 14400s", "alpha/101 ann 2 GPUs a100 3600s"},
			notes: map[string]int{"jobs of cluster alpha": 2, "jobs of cluster beta": 2},
		},
		{
			name: "files/01-two-clusters.txt", kind: "one cluster cannot be chosen", cluster: "beta",
			jobs:  []string{"100 bob 4 GPUs h100 7200s", "101 bob 2 GPUs h100 3600s"},
			notes: map[string]int{"jobs of other clusters left out": 2},
		},
		{
			name: "files/04-reqgres-per-node.txt", kind: "a unit in front of a GRES hides it",
			jobs: []string{"1 16 GPUs 3600s", "2 4 GPUs a100 3600s", "3 4 GPUs 3600s"},
		},
		{
			name: "files/07-het-job.txt", kind: "parts of a job are jobs",
			jobs:  []string{"13+0 alice 8 GPUs h100 3600s", "14+0 alice 4 GPUs h100 3600s", "14+1 alice 4 GPUs a100 3600s"},
			notes: map[string]int{"on other GPU types than the first part": 1, "without GPUs": 1},
		},
		{
			name: "files/09-mig-and-shard.txt", kind: "shares of GPUs count as whole GPUs or as none",
			jobs:  []string{"63 alice 8 GPUs nvidia_a100_80gb_pcie 3600s", "64 alice 8 GPUs nvidia_a100_80gb_pcie 3600s"},
			notes: map[string]int{"parts of GPUs dropped (1g.10gb)": 1, "parts of GPUs dropped (3g.40gb)": 1, "parts of GPUs dropped (shard)": 1},
		},
	} {
		t.Run(tc.name+tc.cluster, func(t *testing.T) {
			o := parse.Options{Cluster: tc.cluster}
			if tc.skip {
				o.OnBadRow = parse.Skip
			}
			jobs, s := listed(t, caseOf(t, tc.name), o)
			if diff := gocmp.Diff(tc.jobs, jobs); diff != "" {
				t.Errorf("%s: jobs (-want +got), notes %v:\n%s", tc.kind, s.Notes, diff)
			}
			for word, want := range tc.notes {
				if got := noted(s, word); got != want {
					t.Errorf("%s: %q noted %d times, want %d: %v", tc.kind, word, got, want, s.Notes)
				}
			}
		})
	}
}

// Kind: forms of rows that no shared case has.
func TestOddRows(t *testing.T) {
	const head = "Cluster|JobID|User|Submit|Start|End|ElapsedRaw|State|ReqGRES|NNodes|AllocTRES\n"
	for _, tc := range []struct {
		kind, rows string
		jobs       []string
		note       string
	}{
		{"suspended within its time", "a|1|u|2026-03-01T08:00:00|2026-03-01T08:00:00|2026-03-01T12:00:00|3600|COMPLETED||1|gres/gpu=2\n", []string{"1 u 2 GPUs 14400s"}, "were suspended"},
		{"change of the clock, no suspension", "a|1|u|2026-03-28T20:00:00|2026-03-28T20:00:00|2026-03-29T12:00:00|54000|COMPLETED||1|gres/gpu=2\n", []string{"1 u 2 GPUs 54000s"}, "without a zone"},
		{"parts of one type are one job", "a|7+0|u|1772352000|1772352060|1772352120|60|COMPLETED||1|gres/gpu:a100=2\na|7+1|u|1772352000|1772352060|1772352120|60|COMPLETED||1|gres/gpu=4\n", []string{"7 u 6 GPUs a100 60s"}, "joined with the first part"},
		{"same user, number of last year", "a|7|u|1772352000|1772352060|1772352120|60|COMPLETED||1|gres/gpu=2\na|7|u|1740816000|1740816060|1740816120|60|RUNNING||1|gres/gpu=1\n", []string{"7 u 1 GPUs 60s", "7#2 u 2 GPUs 60s"}, "used again"},
		{"same submission, other user", "a|7|u|1772352000|1772352060|1772352120|60|COMPLETED||1|gres/gpu=2\na|7|v|1772352000|1772352060|1772352120|60|COMPLETED||1|gres/gpu=1\n", []string{"7 u 2 GPUs 60s", "7#2 v 1 GPUs 60s"}, "used again"},
		{"slices next to GPUs", "a|7|u|1772352000|1772352060|1772352120|60|COMPLETED||1|gres/gpu=3,gres/gpu:a100=1,gres/gpu:a100_1g.5gb=2\n", []string{"7 u 1 GPUs a100 60s"}, "next to whole ones"},
	} {
		jobs, s := listed(t, head+tc.rows, parse.Options{})
		if diff := gocmp.Diff(tc.jobs, jobs); diff != "" || noted(s, tc.note) == 0 || tc.note != "were suspended" && noted(s, "were suspended") > 0 {
			t.Errorf("%s, notes %v, want %q (-want +got):\n%s", tc.kind, s.Notes, tc.note, diff)
		}
	}
	_, _, err := read(head+"a|1|u|1772352000|1772352060|1772352120|60|COMPLETED|PER_TASK:gpu:1|2|\n", parse.Options{})
	if want := `w:2:9: reqgres "PER_TASK:gpu:1", want GPUs per node or per job`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, _, err = read(head+"a|1|u|1772352000|1772352060|1772352120|60|COMPLETED||2|gres/gpu=1\n", parse.Options{Cluster: "c"})
	if want := `w: no rows of cluster "c": the file has rows of a`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
