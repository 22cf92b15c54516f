package status

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// Each reason of the guide has at most 12 words in a list, and begins with the fact.
func TestBrief(t *testing.T) {
	for sentence, want := range map[string]string{
		"a has been waiting 1m35s: fifo starts it only with all 16 GPUs that it requested, and no type has more than 8 free.":                                                 "fifo starts it only with all 16 GPUs",
		"a has been waiting 3h24m: 3 jobs are ahead of it in the queue (b, c and d), and fifo starts it only with all 6 GPUs that it requested.":                              "3 jobs are ahead",
		"a has been waiting 3m10s: 4 jobs that gain more from v100 GPUs come first (job-24, job-23, job-12 and 1 more).":                                                      "4 jobs that gain more from v100 GPUs come first",
		"a was shrunk from 8 to 4 t4 GPUs 0s ago and is restarting: other jobs gain more from the GPUs that were taken from it; b moved to 4 of its previous GPUs.":           "was shrunk from 8 to 4 t4 GPUs and is restarting",
		"a has been waiting 1h56m: the plan had 8 v100 GPUs for it, but the free GPUs are scattered, and too few whole nodes are free; the next round tries again.":           "the free GPUs are scattered, and too few whole nodes are free",
		"a has been waiting 5m39s: 1 rented node for the 6 a100 GPUs planned for it has not arrived yet; the first round after its nodes are up decides.":                     "1 rented node for the 6 a100 GPUs has not arrived yet",
		"a has been waiting 1m00s: whole nodes for its 1 a100 GPU would raise the total cost to 16.00 per hour, and the budget now allows 2.57 per hour; it can start later.": "its 1 a100 GPU would raise the cost to 16.00 per hour",
		"Slurm started it": "Slurm started it", "": "",
		"a waits for a very long text without any end of a clause that goes on": "waits for a very long text without any end of a clause\u2026",
	} {
		if got := (&Job{ID: "a", Sentence: sentence}).brief(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sentence, got, want)
		}
	}
	guide, err := os.ReadFile(filepath.Join(testdata.Root(t), "docs", "guide", "reasons.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?m)^\\| `[^|]*\\|[^|]*\\|[^|]*\\| ([^|]*?)(?:\\. With `--verbose`.*)? \\|$").FindAllStringSubmatch(string(guide), -1)
	if len(examples) < 30 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		got := (&Job{ID: "a", Sentence: "a has been waiting 3m10s: " + e[1]}).brief()
		if n := len(strings.Fields(got)); n > mostWords || n < 3 {
			t.Errorf("%s: %d words: %s", e[1], n, got)
		}
	}
}
