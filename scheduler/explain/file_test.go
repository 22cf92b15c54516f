package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	settings "github.com/oxgang/oxgang/simulate/config"
	simrun "github.com/oxgang/oxgang/simulate/run"
)

// A checkpointer writes checkpoints that only readers of the journal need.
type checkpointer struct {
	w     *journal.Writer
	s     *scheduler.Scheduler
	every int64
}

func (c *checkpointer) Event(time.Time, scheduler.Event) {}

func (c *checkpointer) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) {
	if _, since := c.w.Written(); since > c.every {
		c.w.Checkpoint(s.Now, c.s.Memory(), nil)
	}
}

// checkpointed is overloaded with checkpoints, and with nodes that fail.
func checkpointed(t testing.TB, policy, cluster string) []byte {
	t.Helper()
	c := settings.Default()
	for key, value := range map[string]string{
		"policy": policy, "cluster": cluster, "generate.jobs": "40", "generate.span": "40m", "horizon": "3h",
		"sim.node-mtbf": "3h", "sim.repair": "10m",
	} {
		if err := c.Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	in, err := simrun.Load(c, simrun.Files{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, simrun.Header(c, in, policy, "test"))
	watch := func(d *simrun.Decider) scheduler.Observer { return &checkpointer{w, d.Scheduler, 20_000} }
	_, err = simrun.SimulateWatched(t.Context(), c, in, policy, simrun.Watch{Observer: watch}, w)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(t testing.TB, text []byte) *journal.File {
	t.Helper()
	f, err := journal.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAtIn_is_At: what is said of a moment is the same whether the whole journal is read, or only what
// lies after checkpoints and what names the job; also where the journal was cut off.
func TestAtIn_is_At(t *testing.T) {
	for _, name := range draws.Some(t, 3, []string{"sia", "las", "synergy"}) {
		cluster := clusters[""]
		if name == "synergy" {
			cluster = clusters["hosts"]
		}
		whole := checkpointed(t, name, cluster)
		marks, err := opened(t, whole).Marks(always)
		if err != nil || len(marks) < 5 {
			t.Fatalf("%s: %d checkpoints in %d bytes, and %v; want some", name, len(marks), len(whole), err)
		}
		partly := 0
		for _, text := range [][]byte{whole, whole[:len(whole)*2/3]} {
			for i, id := range jobsOf(t, text) {
				if i%9 != 3 {
					continue
				}
				for _, at := range []time.Duration{0, 7 * time.Minute, 41*time.Minute + time.Second, 70 * time.Minute, 101 * time.Minute, 9 * time.Hour} {
					want, err := At(journalOf(t, text), id, at)
					if err != nil {
						t.Fatal(err)
					}
					got, err := AtIn(opened(t, text), id, at)
					if err != nil {
						t.Fatalf("%s: %s at %v: %v", name, id, at, err)
					}
					if a, b := asText(t, want), asText(t, got); a != b {
						t.Fatalf("%s: %s at %v: got\n%s\nwant\n%s", name, id, at, b, a)
					}
					if s, err := fromCheckpoints(opened(t, text), id, at); err == nil && s != nil {
						partly++
					}
				}
			}
		}
		if partly < 30 {
			t.Errorf("%s: %d moments were told without reading all, want 30", name, partly)
		}
	}
}

func journalOf(t testing.TB, text []byte) *journal.Reader {
	t.Helper()
	r, err := journal.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func asText(t testing.TB, s *Story) string {
	t.Helper()
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAtIn_of_a_job_that_is_not_there: the closest names come from the whole journal, of which only the beginnings of lines are
// read: damage behind them is not met.
func TestAtIn_of_a_job_that_is_not_there(t *testing.T) {
	text := checkpointed(t, "fifo", clusters[""])
	_, inRound, _ := bytes.Cut(text, []byte(`"round":{`))
	copy(inRound, "####")
	f := opened(t, text)
	_, at := AtIn(f, "cifar10-00", 3*time.Hour)
	_, life := LifeIn(f, "cifar10-00")
	for _, err := range []error{at, life} {
		unknown, ok := errors.AsType[*UnknownJobError](err)
		if !ok || len(unknown.Closest) == 0 {
			t.Errorf("got %v, want that the job is not known, and names like it", err)
		}
	}
	if _, err := LifeIn(f, jobsOf(t, checkpointed(t, "fifo", clusters[""]))[3]); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("the life of a job that is there: got %v, want that the journal was changed", err)
	}
}

// TestAtIn_reads_what_it_needs: damage at the beginning of a journal is not met, and damage where it
// reads is found.
func TestAtIn_reads_what_it_needs(t *testing.T) {
	text := checkpointed(t, "fifo", clusters[""])
	f := opened(t, text)
	id := jobsOf(t, text)[30]
	at := 100 * time.Minute
	want, err := AtIn(f, id, at)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(text)
	first := bytes.IndexByte(text, '\n') + 1
	copy(damaged[first+20:], "####")
	got, err := AtIn(opened(t, damaged), id, at)
	if err != nil || asText(t, got) != asText(t, want) {
		t.Errorf("damage elsewhere: got %v", err)
	}
	end := bytes.Index(text, []byte(`{"t":5940`)) // 99 minutes
	if end < 0 {
		t.Fatal("no line of minute 99")
	}
	damaged = bytes.Clone(text)
	i := end + bytes.IndexByte(damaged[end:], '\n') - 4 // in the hash
	damaged[i] ^= 1
	if _, err := AtIn(opened(t, damaged), id, at); !errors.Is(err, journal.ErrChanged) {
		t.Errorf("damage before the moment: got %v, want that the journal was changed", err)
	}
}

func jobsOf(t testing.TB, text []byte) []job.ID {
	t.Helper()
	var all []job.ID
	for rec, err := range journalOf(t, text).Records() {
		if err != nil && !errors.Is(err, journal.ErrTruncated) {
			t.Fatal(err)
		}
		if ev, ok := rec.Event.(scheduler.Submitted); ok {
			all = append(all, ev.Spec.ID)
		}
	}
	return all
}
