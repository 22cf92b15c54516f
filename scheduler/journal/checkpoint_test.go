package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/registry"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/sim"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A keeper writes a checkpoint every few rounds, and keeps what it should say.
type keeper struct {
	w    *journal.Writer
	s    *scheduler.Scheduler
	want []want
	// With every so many checkpoints the next part begins; 0: there is one.
	every int
	parts []*bytes.Buffer
}

type want struct {
	at       time.Duration
	jobs     []scheduler.Restored
	recorded map[job.ID]policy.Decision
	after    int // records that follow the checkpoint
}

func (k *keeper) Event(time.Time, scheduler.Event) { k.count() }

func (k *keeper) count() {
	for i := range k.want {
		k.want[i].after++
	}
}

func (k *keeper) Round(s *policy.Snapshot, p *policy.Plan, _ []scheduler.Action) {
	k.count()
	if s.Round%7 != 3 {
		return
	}
	if k.every > 0 && (len(k.want)+1)%k.every == 0 {
		k.parts = append(k.parts, new(bytes.Buffer))
		if err := k.w.Part(k.parts[len(k.parts)-1], s.Now, k.s.Memory(), []byte{1, 2, byte(s.Round)}); err != nil {
			panic(err)
		}
	} else {
		k.w.Checkpoint(s.Now, k.s.Memory(), []byte{1, 2, byte(s.Round)})
	}
	w := want{at: s.Now.Sub(sim.Epoch), jobs: k.s.Memory().Active(), recorded: map[job.ID]policy.Decision{}}
	for i, j := range s.Jobs {
		w.recorded[j.ID] = p.Jobs[i]
	}
	k.want = append(k.want, w)
}

// kept returns a journal with checkpoints, and what these should say. Without checkpoints if plain.
func kept(t *testing.T, plain bool) ([]byte, []want) {
	t.Helper()
	k := &keeper{}
	return k.run(t, plain), k.want
}

// partsOf returns the same journal in parts, each of which begins with every so manieth checkpoint.
func partsOf(t *testing.T, every int) [][]byte {
	t.Helper()
	k := &keeper{every: every}
	all := [][]byte{k.run(t, false)}
	for _, p := range k.parts {
		all = append(all, p.Bytes())
	}
	return all
}

// run records a run, and returns its journal, or the first part of that.
func (k *keeper) run(t *testing.T, plain bool) []byte {
	t.Helper()
	nodes, err := cluster.New([]cluster.Node{{ID: "a", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Rack: "r"}, {ID: "b", GPUType: "rtx", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	var arrivals []workload.Arrival
	catalog := profiles.Default()
	for i, name := range []string{"cifar10", "bert", "yolov3", "cifar10", "deepspeech2"} {
		a := workload.Arrival{At: time.Duration(i) * 3 * time.Minute, Application: name}
		a.Spec = job.Spec{ID: job.ID("j\"" + string(rune('a'+i))), GPUs: 4, Adaptivity: job.Adaptive}
		if err := catalog.Complete(&a); err != nil {
			t.Fatal(err)
		}
		arrivals = append(arrivals, a)
	}
	o := sim.DefaultOptions()
	o.Faults.NodeMTBF, o.Faults.Repair = 2*time.Hour, 10*time.Minute
	world, err := sim.New(nodes, catalog, arrivals, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := registry.New("las", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scheduler.New(p, placement.NewBestFit(), nodes, scheduler.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := journal.NewWriter(&out, journal.Header{Tool: "test", Policy: "las", Start: sim.Epoch, Round: time.Minute, Cluster: nodes})
	k.w, k.s = w, s
	obs := []scheduler.Observer{w, k}
	if plain {
		obs = obs[:1]
	}
	if err := errors.Join(s.Run(t.Context(), world, obs...), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func fileOf(t *testing.T, text []byte) *journal.File {
	t.Helper()
	f, err := journal.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// all reads records, without the numbers of their lines.
func all(t *testing.T, r *journal.Reader) []journal.Record {
	t.Helper()
	var records []journal.Record
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		rec.Line = 0
		records = append(records, rec)
	}
	return records
}

var records = cmp.Options{cmp.Comparer(func(a, b *cluster.Cluster) bool {
	return cmp.Equal(a.Nodes(), b.Nodes())
})}

// TestReader_begins_at_a_checkpoint: it knows what a reader of all knows, and reads what follows.
func TestReader_begins_at_a_checkpoint(t *testing.T) {
	text, wants := kept(t, false)
	plain, _ := kept(t, true)
	f := fileOf(t, text)
	whole := all(t, must(f.Start()))
	if diff := cmp.Diff(all(t, must(fileOf(t, plain).Start())), whole, records); diff != "" {
		t.Errorf("checkpoints change what is read: %s", diff)
	}
	marks, err := f.Marks(1000 * time.Hour)
	if err != nil || len(marks) != len(wants) || len(wants) < 10 {
		t.Fatalf("%d checkpoints and %v, want %d", len(marks), err, len(wants))
	}
	for i, m := range marks {
		r, c, err := f.From(m)
		if err != nil {
			t.Fatal(err)
		}
		if c.At != wants[i].at || m.At != c.At || !bytes.HasPrefix(c.Memory, []byte{1, 2}) || len(c.Memory) != 3 {
			t.Errorf("got %v with %d bytes, want %v", c.At, len(c.Memory), wants[i].at)
		}
		if len(c.Jobs) != len(wants[i].jobs) {
			t.Fatalf("%d jobs, want %d", len(c.Jobs), len(wants[i].jobs))
		}
		for k, j := range c.Jobs {
			if diff := cmp.Diff(wants[i].jobs[k], j.Restored); diff != "" {
				t.Errorf("checkpoint %d: %s", i, diff)
			}
			if j.Decision == nil || cmp.Diff(wants[i].recorded[j.Spec.ID], *j.Decision) != "" {
				t.Errorf("checkpoint %d: said of %s: %v, want %v", i, j.Spec.ID, j.Decision, wants[i].recorded[j.Spec.ID])
			}
		}
		rest := all(t, r)
		if diff := cmp.Diff(whole[len(whole)-wants[i].after:], rest, records); diff != "" {
			t.Fatalf("after checkpoint %d: %s", i, diff)
		}
		before := must(f.Before(m.At + 59*time.Second))
		if at, ok := before.Passed(); !ok || at != m.At {
			t.Errorf("before %v: begins at %v, %t", m.At+59*time.Second, at, ok)
		}
	}
	first := must(f.Before(marks[0].At - 1))
	if _, ok := first.Passed(); ok || len(all(t, first)) != len(whole) {
		t.Error("before the first checkpoint, a reader does not begin at the start")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestSeal_with_checkpoints: a line that is changed, lost, doubled or moved is found, with its place,
// whether it is a checkpoint or not.
func TestSeal_with_checkpoints(t *testing.T) {
	text, _ := kept(t, false)
	lines := strings.SplitAfter(string(text), "\n")
	lines = lines[:len(lines)-1]
	found := func(lines []string) (int, error) {
		r, err := journal.NewReader(strings.NewReader(strings.Join(lines, "")))
		if err != nil {
			return 1, err
		}
		for _, err := range r.Records() {
			if err != nil {
				return r.Line(), err
			}
		}
		return 0, nil
	}
	tried := 0
	for i, line := range lines {
		checkpoint := strings.Contains(line, `"checkpoint":{"hashed"`)
		if i == 0 || tried > 5 || !checkpoint && (i == 1 || !strings.Contains(lines[i-1], `"checkpoint":{"hashed"`)) {
			continue // of the first checkpoints, and the lines after them
		}
		tried++
		for at := 5; at < len(line)-1; at += 1 + len(line)/40 {
			changed := append([]string{}, lines...)
			changed[i] = line[:at] + string(line[at]^1) + line[at+1:]
			if n, err := found(changed); n != i+1 || !errors.Is(err, journal.ErrChanged) {
				t.Fatalf("byte %d of line %d changed: got line %d and %v", at, i+1, n, err)
			}
		}
		lost := append(append([]string{}, lines[:i]...), lines[i+1:]...)
		if n, err := found(lost); i < len(lines)-1 && (n != i+1 || !errors.Is(err, journal.ErrChanged)) {
			t.Fatalf("line %d lost: got line %d and %v", i+1, n, err)
		}
		doubled := append(append([]string{}, lines[:i+1]...), lines[i:]...)
		if n, err := found(doubled); n != i+2 || !errors.Is(err, journal.ErrChanged) {
			t.Fatalf("line %d doubled: got line %d and %v", i+1, n, err)
		}
		if i+1 < len(lines) {
			swapped := append([]string{}, lines...)
			swapped[i], swapped[i+1] = lines[i+1], lines[i]
			if n, err := found(swapped); n != i+1 || !errors.Is(err, journal.ErrChanged) {
				t.Fatalf("lines %d and %d swapped: got line %d and %v", i+1, i+2, n, err)
			}
		}
	}
}

// TestNaming: its records are those of a Reader that name the job, with the changes of that alone.
func TestNaming(t *testing.T) {
	text, _ := kept(t, false)
	f := fileOf(t, text)
	changes := 0
	for _, id := range []job.ID{"j\"a", "j\"c", "j\"d"} {
		n := f.Naming(id)
		if err := n.Append(f.Body(), must(f.Last()).End); err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, rec := range must(n.Records()) {
			if rec.Round != nil {
				for _, c := range rec.Round.Changed {
					got = append(got, fmt.Sprintf("%v %+v", rec.At, c))
				}
			}
		}
		for _, rec := range all(t, must(f.Start())) {
			if rec.Round != nil {
				for _, c := range rec.Round.Changed {
					if c.Job == id {
						want = append(want, fmt.Sprintf("%v %+v", rec.At, c))
					}
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("job %s: %s", id, diff)
		}
		changes += len(want)
	}
	if changes == 0 {
		t.Error("no round changed anything of the jobs: nothing was compared")
	}
}

// TestReader_knows_nodes_and_capacity: after a checkpoint, what did not change is not said again.
func TestReader_knows_nodes_and_capacity(t *testing.T) {
	nodes := must(cluster.New([]cluster.Node{{ID: "a", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}}))
	lent := cluster.Node{GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}, Group: "g", Tenure: cluster.Loaned}
	ev := scheduler.NodesChanged{Cluster: nodes, Loans: []cluster.Loan{{Group: "g", Node: lent, Nodes: 5, Spare: 3}}}
	s := must(scheduler.New(must(registry.New("las", nil)), placement.NewBestFit(), nodes, scheduler.DefaultOptions()))
	now := sim.Epoch.Add(time.Minute)
	_ = must(s.Step(now, ev))
	var out bytes.Buffer
	w := journal.NewWriter(&out, journal.Header{Tool: "test", Policy: "las", Start: sim.Epoch, Round: time.Minute, Cluster: nodes})
	wants := map[cluster.Group]int{"g": 2}
	w.Event(now, ev)
	w.Round(&policy.Snapshot{Now: now, Cluster: nodes}, &policy.Plan{Capacity: wants}, nil)
	w.Checkpoint(now, s.Memory(), nil)
	w.Event(now, ev)
	w.Round(&policy.Snapshot{Now: now, Cluster: nodes, Round: 1}, &policy.Plan{Capacity: wants}, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"prices":`, `"refused":`} {
		if bytes.Contains(out.Bytes(), []byte(key)) {
			t.Errorf("the journal has %s, and no round had such a value", key)
		}
	}
	f := fileOf(t, out.Bytes())
	r, c, err := f.From(must(f.Marks(time.Hour))[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ev, c.Nodes, records); diff != "" || len(c.Memory) != 0 {
		t.Errorf("nodes of the checkpoint: %s", diff)
	}
	rest := all(t, r)
	if len(rest) != 2 || cmp.Diff(scheduler.Event(ev), rest[0].Event, records) != "" || rest[1].Round == nil || cmp.Diff(wants, rest[1].Round.Capacity) != "" {
		t.Errorf("got %+v, want the nodes and the capacity that were said before", rest)
	}
}
