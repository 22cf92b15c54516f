package view

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A playback plays back what a real Slurm said: see live/slurm/client/testdata. It counts commands, and fails while down is true.
type playback struct {
	t     *testing.T
	asked atomic.Int64
	down  atomic.Bool
}

func (r *playback) run(_ context.Context, c client.Command) ([]byte, error) {
	r.asked.Add(1)
	if r.down.Load() {
		return nil, client.Failed(c.Name, c.Name+": error: Unable to contact slurm controller\n", nil)
	}
	file := map[string]string{"squeue": "squeue.json", "sacctmgr": "qos.txt"}[c.Name]
	if c.Name == "scontrol" {
		if c.Args[0] == "--json" {
			return nil, client.Failed(c.Name, "scontrol: unrecognized option '--json'\n", nil)
		}
		file = map[string]string{"node": "scontrol-node.txt", "partition": "partitions.txt", "reservation": "reservations.txt"}[c.Args[len(c.Args)-1]]
	}
	text, err := os.ReadFile(filepath.Join("..", "client", "testdata", file))
	if err != nil {
		r.t.Error(err)
	}
	return text, err
}

// TestSlurm: the page has each job and each GPU that is held, asks Slurm as seldom as the pace says, and says since when it does not answer.
func TestSlurm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))) // after the recording
		r := &playback{t: t}
		s := Page(&client.Client{Run: r.run}, nil, "not asked", nil)
		if err := s.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		o, err := s.Overview(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		held, running := 0, 0
		for i := range o.Nodes {
			for _, h := range o.Nodes[i].Held {
				held += h.GPUs
			}
		}
		for i := range o.Jobs {
			running += o.Jobs[i].GPUs
		}
		said := 0 // of GPUs that are not free, which the page calls held
		for _, v := range o.GPUs {
			said += v.Total - v.Unusable - v.Free()
		}
		if said != held {
			t.Errorf("the page says that %d GPUs are held, want %d: those of nodes that are down are not", said, held)
		}
		if held != 24 || running != 24 || len(o.Jobs) != 14 || len(o.Nodes) != 6 || len(o.Attention) > 0 {
			t.Errorf("%d GPUs held by nodes and %d by jobs, %d jobs, %d nodes, %q, want 24, 24, 14, 6", held, running, len(o.Jobs), len(o.Nodes), o.Attention)
		}
		j, err := s.Job(t.Context(), "12", 0)
		if err != nil || !strings.Contains(j.Job.Sentence, "can never start") || j.Job.Start.Unknown == "" {
			t.Errorf("job 12: %+v, %v, want that it can never start", j, err)
		}
		if _, err := s.Job(t.Context(), "99", 0); !errors.Is(err, page.ErrUnknown) {
			t.Errorf("no such job: %v, want that it is not known", err)
		}
		if len(o.Ended) != 2 || !strings.HasPrefix(o.Ended[1].Detail, "exit status 3") && !strings.HasPrefix(o.Ended[0].Detail, "exit status 3") {
			t.Errorf("ended %+v, want jobs 10 and 14, and why 14 failed", o.Ended)
		}
		if n := r.asked.Load(); n != 6 {
			t.Errorf("%d commands for one look, want 6", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Follow(ctx, client.DefaultPace().Next)
		time.Sleep(time.Minute + time.Second)
		if looks := r.asked.Load() / 6; looks != 6 { // after 2, 4, 8, 16 and 30 s more
			t.Errorf("%d looks in a minute in which nothing changed, want 6", looks)
		}
		r.down.Store(true)
		time.Sleep(time.Minute)
		o, err = s.Overview(t.Context(), 0)
		if err != nil || len(o.Jobs) != 14 || !o.At.Equal(time.Date(2027, 1, 1, 0, 1, 0, 0, time.UTC)) || !strings.HasPrefix(o.Stale, "Slurm does not answer: ") {
			t.Errorf("%v, %v, %q, want the last state, its time and why it is old", err, o.At, o.Stale)
		}
		if series, err := s.Series(t.Context()); err != nil || len(series.At) != 6 || series.At[0] != 0 || series.At[5] > journal.Seconds(2*time.Minute) || series.Held[0] != 24 || series.Waiting[0] != 7 || series.Running[0] != 7 {
			t.Errorf("series %+v, %v, want 6 points of 24 GPUs held", series, err)
		}
	})
}

// TestSlurm_down: where Slurm has never answered, there is an error.
func TestSlurm_down(t *testing.T) {
	r := &playback{t: t}
	r.down.Store(true)
	s := Page(&client.Client{Run: r.run}, nil, "", nil)
	if err := s.Look(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("%v, want that Slurm does not answer", err)
	}
}

// Slurm shows a job that ended for some minutes. The page keeps the last ones, and does not list a job twice.
func TestLatest(t *testing.T) {
	at := func(id string, seconds int64) status.Job {
		return status.Job{ID: job.ID(id), Finished: time.Unix(seconds, 0)}
	}
	got := latest([]status.Job{at("a", 1), at("c", 3)}, []status.Job{at("a", 0), at("b", 2)})
	if want := []status.Job{at("c", 3), at("b", 2), at("a", 1)}; !slices.EqualFunc(got, want, func(a, b status.Job) bool { return a.ID == b.ID && a.Finished.Equal(b.Finished) }) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var many []status.Job
	for i := range 3 * mostEnded {
		many = latest([]status.Job{at(strconv.Itoa(i), int64(i))}, many)
	}
	if len(many) != mostEnded || many[0].ID != job.ID(strconv.Itoa(3*mostEnded-1)) {
		t.Errorf("%d jobs, the first is %s", len(many), many[0].ID)
	}
}
