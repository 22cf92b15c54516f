package history

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/simulate/config"
)

func askedOn(t *testing.T, name, nodes string) (*Answer, string) {
	t.Helper()
	q := &Question{Config: config.Default(), Seeds: 1, Policies: []string{"multifactor"}}
	if err := q.Config.Set("cluster", nodes, "test"); err != nil {
		t.Fatal(err)
	}
	a := answered(t, q, name)
	var b bytes.Buffer
	if err := a.Table(&b); err != nil {
		t.Fatal(err)
	}
	return a, b.String()
}

// Kind of fault: jobs that the cluster cannot run disappear. They are the first sentence of the answer, and an
// answer about two thirds of the jobs is not trusted.
func TestWhatIf_names_jobs_left_out(t *testing.T) {
	name := testdata.Path(t, "../cases/files/02-whatif-drops-gpu-type.txt")
	a, text := askedOn(t, name, "a100:1x8")
	const want = "20 of 60 jobs are left out: they want h100, the cluster has a100.\nNOT TO BE TRUSTED"
	if !strings.HasPrefix(text, want) || a.Trust.Trusted || len(a.LeftOut) != 1 || a.LeftOut[0].Jobs != 20 {
		t.Errorf("got %v, %s; want %s", a.LeftOut, text, want)
	}
	if a, text := askedOn(t, name, "a100:1x8,h100:1x8"); len(a.LeftOut) > 0 || strings.Contains(text, "left out") {
		t.Errorf("both types: got %v, %s", a.LeftOut, text)
	}
	if a, _ := askedOn(t, name, "a100:1x1,h100:1x8"); len(a.LeftOut) != 1 || a.LeftOut[0].Jobs != 40 || a.LeftOut[0].Why != "need more than the cluster has" {
		t.Errorf("one a100: got %v, want 40 jobs that need more", a.LeftOut)
	}
}

// Kind of fault: a relative error of a wait that nobody notices decides about trust. A history in which each job
// starts at once is trusted. If one job in five waits for an hour, a replay without waits is not.
func TestWhatIf_of_jobs_that_do_not_wait(t *testing.T) {
	write := func(wait int) string {
		text := "JobID|User|Submit|Start|End|ElapsedRaw|Timelimit|State|ReqTRES|AllocTRES\n"
		for i := range 40 {
			submit := 1772352000 + 600*i
			start := submit
			if i%5 == 0 {
				start += wait
			}
			text += fmt.Sprintf("%d|u%d|%d|%d|%d|3600|02:00:00|COMPLETED|gres/gpu:a100=1|gres/gpu:a100=1,node=1\n", 100+i, i%3, submit, start, start+3600)
		}
		name := filepath.Join(t.TempDir(), "history.txt")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	if a, text := askedOn(t, write(0), "a100:1x8"); !a.Trust.Trusted || !strings.HasPrefix(text, "Accuracy: a replay of your own policy matches the log.\nMean wait: no job waited.") {
		t.Errorf("nobody waits: got %s", text)
	}
	if a, text := askedOn(t, write(3600), "a100:1x8"); a.Trust.Trusted {
		t.Errorf("one in five waits for an hour: got %s", text)
	}
}
